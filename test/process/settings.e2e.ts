import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { withSql } from '../support/backup-rows.js';
import { loadConfig } from '../../src/process/config.js';
import { DECLARED_TOKEN } from '../support/environment.js';
import { useFolder, useTestDatabase } from '../support/fixtures.js';
import { answersIn, sendRaw } from '../support/raw-http.js';
import {
  create,
  createAll,
  dataOf,
  idOf,
  LOG,
  outcome,
  refusal,
  sendUnchecked,
  TIME_LOGS,
} from '../support/requests.js';
import { runHere, type ServiceHere, startHere } from '../support/service-here.js';
import { startTestApp } from '../support/test-app.js';
import type { OpenApiDocument } from '../support/open-api.js';
import { lastLineOf } from '../support/commands.js';
import { Issuer, makeKey, seconds } from '../support/issuer.js';

const EXAMPLE = join(import.meta.dirname, '..', '..', 'docker', 'attributes', 'person-billable-tags.json');

describe('the limits of the service', () => {
  afterAll(() => service.end());
  const database = useTestDatabase();
  let service: ServiceHere & { readonly token: string };

  beforeAll(async () => {
    // Again where a busy machine is too slow for the first connection.
    const started = await eventually(() =>
      startHere(
        {
          DATABASE_URL: database.url,
          ACCESS_TOKEN: DECLARED_TOKEN,
          BATCH_LIMIT: '3000',
          POOL_SIZE: '2',
        },
        undefined,
        undefined,
        { headersTimeout: 1_000, requestTimeout: 1_000, deadline: 200 },
      ),
    );
    service = { ...started, token: DECLARED_TOKEN };
  });

  it('bound a batch', async () => {
    expect(outcome(await createAll(service, { timeLogs: Array(30).fill(LOG) }))).toEqual([
      413,
      refusal('PAYLOAD_TOO_LARGE', 'the request body must be at most 3000 bytes'),
    ]);
  });

  it('end a connection whose request was answered before its body had come, without a second answer', async () => {
    const refused = 'POST /api/v1/time-logs HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{';
    expect(answersIn(await sendRaw(service.port, refused)).map(({ status }) => status)).toEqual([401]);
  });

  it('bound the wait for the database and its connections', async () => {
    const timers = jest.spyOn(serviceGlobal, 'setTimeout');
    await withSql(database.url, async (sql) => {
      const blocker = sql.createQueryRunner();
      await blocker.query('begin; lock table time_logs in access exclusive mode');
      const answers = await Promise.all(Array.from({ length: 10 }, () => create(service)));
      expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(
        Array(10).fill([503, '1']),
      );
      expect(timers.mock.calls.map(([, milliseconds]) => milliseconds)).toContain(200);
      const connections = await sql.query<unknown[]>(
        `select 1 from pg_stat_activity where datname = current_database() and application_name = 'time-logs'`,
      );
      expect(connections.length).toBeLessThanOrEqual(2);
      await blocker.query('rollback');
      await blocker.release();
    });
    timers.mockRestore();
    await eventually(async () => expect((await create(service)).status).toBe(201));
  });
});

it('KEY_LIFETIME is the time for which a key protects', async () => {
  const { limits } = loadConfig({ KEY_LIFETIME: '48' }, false);
  const app = await startTestApp({ limits });
  try {
    const again = async (age: string) => {
      const headers = { 'Idempotency-Key': age };
      const first = await create(app, LOG, headers);
      await app.dataSource.query(
        'update time_log_keys set created_at = now() - $1::interval where text = $1::text',
        [age],
      );
      return idOf(await create(app, LOG, headers)) === idOf(first);
    };
    expect(await again('47:59')).toBe(true);
    expect(await again('48:01')).toBe(false);
  } finally {
    await app.close();
  }
});

describe('the service with a schema of attributes', () => {
  afterAll(() => service?.end());
  const database = useTestDatabase();
  const inFolder = useFolder('time-logs-attributes-');
  const ADA = { userId: 'ada', tags: ['a'] };
  let service: ServiceHere | undefined;
  let id: string;

  const startWith = async (schema: string) => {
    const settings = { DATABASE_URL: database.url, ACCESS_TOKEN: DECLARED_TOKEN, ATTRIBUTES_SCHEMA: schema };
    const next = await startHere(settings);
    await service?.end();
    service = next;
  };
  /** Sends a request that the committed document does not describe. */
  const send = (path: string, sent?: object) => {
    const target = { port: service!.port, token: DECLARED_TOKEN };
    return sendUnchecked(target, sent ? 'POST' : 'GET', TIME_LOGS + path, sent);
  };

  beforeAll(async () => {
    await startWith(EXAMPLE);
    const answer = await send('', { ...LOG, attributes: ADA });
    expect(dataOf(answer)).toMatchObject({ attributes: { billable: true, ...ADA } });
    id = idOf(answer);
  });

  it('describes them in the document', async () => {
    const { components } = (await (await fetch(`${service!.url}/openapi.json`)).json()) as OpenApiDocument;
    const { $schema, ...described } = JSON.parse(await readFile(EXAMPLE, 'utf8')) as Record<string, unknown>;
    expect($schema).toBeDefined();
    expect(components.schemas.Attributes).toEqual(described);
  });

  it('exports them', async () => {
    const { text: csv } = await send('/export');
    expect(csv).toMatch(/^id,projectId,date,duration,description,createdAt,attributes\n/);
    expect(csv).toContain('""userId"":');
  });

  it('does not start without it', async () => {
    await expect(startWith(inFolder('missing.json'))).rejects.toThrow(/^[^\n]*ATTRIBUTES_SCHEMA[^\n]*$/);
  });

  it('starts with a narrower schema, whose logs keep what they have, and with the first one again', async () => {
    const narrow = inFolder('narrow.json');
    await writeFile(narrow, '{"type":"object","properties":{"billable":{"type":"boolean"}}}');
    for (const [file, status] of [
      [narrow, 400],
      [EXAMPLE, 200],
    ] as const) {
      await startWith(file);
      expect((await send('?attributes.userId=ada')).status).toBe(status);
      expect((await send(`/${id}`)).body).toMatchObject({ data: { attributes: ADA } });
    }
  });
});

describe('the service with JWTs', () => {
  const database = useTestDatabase();
  const inFolder = useFolder('time-logs-jwt-');
  let issuer: Issuer;

  beforeAll(async () => {
    issuer = await Issuer.start(await makeKey('EdDSA', 'a'));
  });
  afterAll(() => issuer.close());

  const settings = () => ({
    AUTH_JWKS_URL: issuer.settings.jwksUrl,
    AUTH_ISSUER: issuer.issuer,
    AUTH_AUDIENCE: issuer.audience,
  });
  const health = async (url: string, token: string): Promise<number> =>
    (await fetch(`${url}/health`, { headers: { authorization: `Bearer ${token}` } })).status;
  /** The same once the keys of the issuer have come, for which a request does not wait for long. */
  const healthWithKeys = (url: string, token: string): Promise<number> =>
    eventually(async () => {
      const status = await health(url, token);
      expect(status).not.toBe(503);
      return status;
    });

  it('starts while the issuer is away, says what is wrong, and never shows a token', async () => {
    await issuer.close();
    const service = await startHere({
      DATABASE_URL: database.url,
      LOG_LEVEL: 'trace',
      AUTH_PROJECTS_CLAIM: 'teams',
      ...settings(),
    });
    const good = await issuer.sign();
    expect(await health(service.url, good)).toBe(503);
    await issuer.open();
    const expired = await issuer.sign({ exp: seconds() - 60 });
    const tampered = good.replace(/\..*\./, (payload) => `${payload.slice(0, -3)}AA.`);
    const unknown = await issuer.sign({}, { kid: 'secret-kid', alg: 'EdDSA' });
    const critical = good.replace(
      /^[^.]*/,
      Buffer.from('{"alg":"EdDSA","crit":["secret-header"],"secret-header":1}').toString('base64url'),
    );
    const bound = await issuer.sign({ teams: ['secret'] });
    const tokens = [good, expired, tampered, unknown, critical, bound];
    const statuses = [];
    for (const token of tokens) statuses.push(await healthWithKeys(service.url, token));
    expect(statuses).toEqual([200, 401, 401, 401, 401, 200]);
    const [header] = good.split('.');
    const malformed = [`Bearer ${header}.secret.secret.secret.secret`, `Bearer "${good}"`, `JWT ${good}`];
    for (const authorization of malformed)
      expect((await fetch(`${service.url}/health`, { headers: { authorization } })).status).toBe(401);
    await service.end();
    const output = service.written.log;
    for (const line of [
      'the keys of the token issuer cannot be fetched: ECONNREFUSED',
      'the keys of the token issuer can be fetched again',
      'JWT refused: ERR_JWT_EXPIRED exp',
      'JWT refused: ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
      'token refused: it has characters that no token has',
      'token refused: Authorization is not Bearer and a token',
      'a caller is bound to no project: the claim teams is missing',
      'a caller is bound to no project: the claim teams contains a value that is not a UUID',
    ])
      expect(output).toContain(line);
    const parts = tokens.flatMap((token) => token.split('.'));
    for (const word of [...parts, 'secret']) expect(output).not.toContain(word);
  });

  it('makes and shows no access token where none is taken', async () => {
    const env = { DATA_DIR: inFolder(), AUTH_ACCESS_TOKENS: 'off', ...settings() };
    const made = await runHere('token', ['create', '--name', 'x'], env);
    expect(made.stderr).toContain('note: AUTH_ACCESS_TOKENS=off, so these tokens are not accepted\n');
    const service = await startHere(env);
    expect(await healthWithKeys(service.url, await issuer.sign())).toBe(200);
    expect(await health(service.url, lastLineOf(made))).toBe(401);
    await service.end();
    expect(service.written.said).toBe('');
    await expect(access(inFolder('access-token'))).rejects.toThrow('ENOENT');
  });
});
