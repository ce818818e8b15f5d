import { access } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { lastLineOf } from '../support/commands.js';
import { runHere, startHere } from '../support/service-here.js';
import { useFolder, useTestDatabase } from '../support/fixtures.js';
import { Issuer, makeKey, seconds } from '../support/issuer.js';

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
      'JWT refused: ERR_JWKS_NO_MATCHING_KEY',
      'JWT refused: ERR_JOSE_NOT_SUPPORTED',
      'JWT refused: it is not three parts in base64url with dots between',
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
