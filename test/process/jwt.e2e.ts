import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { lastLineOf, runCommand } from '../support/commands.js';
import { Issuer, makeKey, seconds } from '../support/issuer.js';
import { startHere } from '../support/service-here.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';

describe('the service with JWTs', () => {
  let database: TestDatabase;
  let issuer: Issuer;

  beforeAll(async () => {
    [database, issuer] = await Promise.all([
      createMigratedDatabase(),
      Issuer.start(await makeKey('EdDSA', 'a')),
    ]);
  });
  afterAll(async () => {
    await issuer.close();
    await database.drop();
  });

  const settings = () => ({
    AUTH_JWKS_URL: issuer.settings.jwksUrl,
    AUTH_ISSUER: issuer.issuer,
    AUTH_AUDIENCE: issuer.audience,
  });
  const health = async (url: string, token: string): Promise<number> =>
    (await fetch(`${url}/health`, { headers: { authorization: `Bearer ${token}` } })).status;

  it('starts while the issuer is away, says what is wrong, and never shows a token', async () => {
    await issuer.close();
    const service = await startHere({
      DATABASE_URL: database.url,
      LOG_LEVEL: 'trace',
      AUTH_PROJECTS_CLAIM: 'teams',
      ...settings(),
    });
    const good = await issuer.sign();
    while ((await health(service.url, good)) === 503) await issuer.open().catch(() => undefined);
    const expired = await issuer.sign({ exp: seconds() - 60 });
    const tampered = good.replace(/\..*\./, (payload) => `${payload.slice(0, -3)}AA.`);
    const unknown = await issuer.sign({}, { kid: 'secret-kid', alg: 'EdDSA' });
    const critical = await issuer.sign().then((token) => {
      const header = Buffer.from('{"alg":"EdDSA","crit":["secret-header"],"secret-header":1}').toString(
        'base64url',
      );
      return token.replace(/^[^.]*/, header);
    });
    const bound = await issuer.sign({ teams: ['secret'] });
    const tokens = [good, expired, tampered, unknown, critical, bound];
    const statuses = [];
    for (const token of tokens) statuses.push(await health(service.url, token));
    expect(statuses).toEqual([200, 401, 401, 401, 401, 200]);
    await service.end();
    const output = service.written.log;
    expect(output).toContain('the keys of the token issuer cannot be fetched: ECONNREFUSED');
    expect(output).toContain('the keys of the token issuer can be fetched again');
    for (const reason of [
      'ERR_JWT_EXPIRED exp',
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
      'ERR_JWKS_NO_MATCHING_KEY',
      'ERR_JOSE_NOT_SUPPORTED',
    ]) {
      expect(output).toContain(`JWT refused: ${reason}`);
    }
    for (const reason of ['is missing', 'holds something other than a UUID']) {
      expect(output).toContain(`a caller is bound to no project: the claim teams ${reason}`);
    }
    const parts = tokens.flatMap((token) => token.split('.'));
    for (const word of [...parts, 'secret']) expect(output).not.toContain(word);
  });

  it('makes and shows no access token where none is taken', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'time-logs-jwt-'));
    const env = { DATA_DIR: directory, AUTH_ACCESS_TOKENS: 'off', ...settings() };
    const service = await startHere(env);
    expect(await health(service.url, await issuer.sign())).toBe(200);
    const made = await runCommand('token', ['create', '--name', 'x'], env);
    expect(made.stderr).toBe('note: AUTH_ACCESS_TOKENS=off, so these tokens are not taken\n');
    expect(await health(service.url, lastLineOf(made))).toBe(401);
    await service.end();
    expect(service.written.said).toBe('');
    await expect(access(join(directory, 'access-token'))).rejects.toThrow();
    await rm(directory, { recursive: true, force: true });
  });
});
