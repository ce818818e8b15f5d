import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { loadConfig } from '../support/compiled.js';
import { type Claims, Issuer, makeKey } from '../support/issuer.js';
import { create, list, LOG } from '../support/requests.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docker', 'PROVIDERS.md'), 'utf8');
/** The settings of each provider on the page. */
const BLOCKS = Object.fromEntries(
  [...PAGE.matchAll(/^## (.+)\n[^]*?^```sh\n([^]*?)^```$/gm)].map(([, provider, block]) => [
    provider!,
    Object.fromEntries([...block!.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!])),
  ]),
);

interface Provider {
  /** The path of the keys in the documentation of the provider. */
  readonly keys: string;
  readonly header: object;
  /** The claims of tokens that may read and record, as its documentation shows them. */
  readonly tokens: Readonly<Record<string, Claims>>;
  /** The change after which a token has no scope of the service. */
  readonly withoutScopes: Claims;
  /** The change after which a token is for another service. */
  readonly elsewhere: Claims;
}

const UUID = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee';
const [READ, WRITE] = ['time-logs:read', 'time-logs:write'];
const BOTH = [READ, WRITE];
const TENANT = 'aaaabbbb-0000-cccc-1111-dddd2222eeee';
const POOL = 'https://cognito-idp.us-west-2.amazonaws.com/us-west-2_example';
const AUTH0 = 'https://my-domain.auth0.com/';
const REALM = 'https://keycloak.example/realms/demo';
const OKTA = 'https://dev-123456.okta.com/oauth2/default';
const KEYCLOAK_ROLES = { account: { roles: ['manage-account', 'view-profile'] } };

const entra = {
  aud: '00001111-aaaa-2222-bbbb-3333cccc4444',
  iss: `https://login.microsoftonline.com/${TENANT}/v2.0`,
  ...{ aio: 'E2NgYPj', azp: '11112222-bbbb-3333-cccc-4444dddd5555', azpacr: '1', oid: UUID, rh: '0.AAAA' },
  ...{ sub: UUID, tid: TENANT, uti: 'AbCd', ver: '2.0' },
};
const cognito = {
  ...{ iss: POOL, token_use: 'access', auth_time: 1_562_190_524, jti: UUID },
  client_id: '57cbishk4j24pabc1234567890',
};
const auth0 = { iss: AUTH0, azp: 'my_client_id' };
const keycloak = { iss: REALM, jti: UUID, sub: UUID, typ: 'Bearer', acr: '1', 'allowed-origins': ['/*'] };
const okta = {
  ver: 1,
  jti: 'AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE',
  iss: OKTA,
  aud: 'api://default',
};

const PROVIDERS: Readonly<Record<string, Provider>> = {
  'Entra ID': {
    keys: `https://login.microsoftonline.com/${TENANT}/discovery/v2.0/keys`,
    header: { typ: 'JWT' },
    tokens: {
      'of a client': { ...entra, roles: BOTH },
      'of a user': { ...entra, scp: BOTH.join(' '), name: 'Ada', preferred_username: 'ada@example.com' },
    },
    withoutScopes: { scp: undefined, roles: ['Reader'] },
    elsewhere: { aud: '00000003-0000-0000-c000-000000000000' },
  },
  Cognito: {
    keys: `${POOL}/.well-known/jwks.json`,
    header: {},
    tokens: {
      'of a client': {
        ...{ ...cognito, sub: cognito.client_id, version: 2 },
        scope: BOTH.map((scope) => `https://time-logs.example/${scope}`).join(' '),
      },
    },
    withoutScopes: { scope: `aws.cognito.signin.user.admin https://other.example/${READ}` },
    elsewhere: { client_id: 'other' },
  },
  Auth0: {
    keys: `${AUTH0}.well-known/jwks.json`,
    header: { typ: 'JWT' },
    tokens: {
      'of a client': {
        ...{ ...auth0, sub: 'my_client_id@clients', aud: 'https://time-logs.example' },
        ...{ gty: 'client-credentials', scope: BOTH.join(' '), permissions: BOTH },
      },
      'of a user': {
        ...{ ...auth0, sub: 'auth0|123456', aud: ['https://time-logs.example', `${AUTH0}userinfo`] },
        ...{ scope: 'openid profile email', permissions: BOTH },
      },
      'without permissions': {
        ...{ ...auth0, sub: 'auth0|123456', aud: 'https://time-logs.example' },
        ...{ scope: `openid ${BOTH.join(' ')}`, permissions: [] },
      },
    },
    withoutScopes: { scope: 'openid profile', permissions: [] },
    elsewhere: { aud: `${AUTH0}userinfo` },
  },
  Keycloak: {
    keys: `${REALM}/protocol/openid-connect/certs`,
    header: { typ: 'JWT' },
    tokens: {
      'of a client': {
        ...{ ...keycloak, aud: 'time-logs', azp: 'batch', client_id: 'batch', clientHost: '192.0.2.1' },
        ...{ scope: 'email profile', preferred_username: 'service-account-batch' },
        resource_access: { 'time-logs': { roles: BOTH } },
      },
    },
    withoutScopes: { realm_access: { roles: BOTH }, resource_access: KEYCLOAK_ROLES },
    elsewhere: { aud: 'account' },
  },
  Okta: {
    keys: `${OKTA}/v1/keys`,
    header: {},
    tokens: {
      'of a client': { ...okta, cid: '0oaipnnzumvqt5tiu1d6', sub: '0oaipnnzumvqt5tiu1d6', scp: BOTH },
    },
    withoutScopes: { scp: ['openid', 'email'] },
    elsewhere: { aud: 'https://dev-123456.okta.com' },
  },
  Google: {
    keys: 'https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com',
    header: { typ: 'JWT' },
    tokens: {
      'of a user': {
        ...{ iss: 'https://securetoken.google.com/my-project', aud: 'my-project', scope: BOTH.join(' ') },
        ...{ auth_time: 1_467_142_021, user_id: 'aBcD', sub: 'aBcD', email: 'ada@example.com' },
        firebase: { identities: { email: ['ada@example.com'] }, sign_in_provider: 'password' },
      },
    },
    withoutScopes: { scope: undefined },
    elsewhere: { aud: 'other-project' },
  },
};

it('the page has settings of every provider', () => {
  expect(Object.keys(BLOCKS)).toEqual(Object.keys(PROVIDERS));
});

describe.each(Object.entries(PROVIDERS))('with the settings on the page, a token of %s', (name, provider) => {
  const samples = Object.entries(provider.tokens);
  let issuer: Issuer;
  let app: TestApp;
  /** The URLs that the service has asked for. */
  const asked = new Set<unknown>();

  const start = async (settings: NodeJS.ProcessEnv) => {
    app = await startTestApp({ jwt: loadConfig({ ...BLOCKS[name], ...settings }, false).jwt });
  };
  /** Returns the statuses of a list and a create. */
  const statusesOf = async (claims: Claims) => {
    const all = { aud: undefined, sub: undefined, scope: undefined, ...claims };
    const headers = { authorization: `Bearer ${await issuer.sign(all, provider.header)}` };
    return [(await list(app, '', { headers })).status, (await create(app, LOG, headers)).status];
  };

  beforeAll(async () => {
    issuer = await Issuer.start(await makeKey('RS256', '1234example='));
  });
  afterAll(() => issuer.close());
  beforeEach(() => {
    const { fetch } = serviceGlobal;
    jest.spyOn(serviceGlobal, 'fetch').mockImplementation((url, init) => {
      asked.add(url);
      return fetch(issuer.settings.jwksUrl, init);
    });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await app.close();
  });

  it('reads and records if it has the scopes and the audience', async () => {
    await start({});
    for (const [, claims] of samples) {
      expect(await statusesOf(claims)).toEqual([200, 201]);
      expect(await statusesOf({ ...claims, ...provider.withoutScopes })).toEqual([403, 403]);
      expect(await statusesOf({ ...claims, ...provider.elsewhere })).toEqual([401, 401]);
      expect(await statusesOf({ ...claims, iss: 'https://issuer.example' })).toEqual([401, 401]);
    }
    expect([...asked]).toEqual([provider.keys]);
  });

  if (name === 'Cognito')
    it('of any client is accepted with the settings for several', async () => {
      const [, setting, value] = /`(AUTH_AUDIENCE_CLAIM=\w+)` and `(AUTH_AUDIENCE=\w+)`/.exec(PAGE)!;
      await start(Object.fromEntries([setting!, value!].map((text) => text.split('='))) as NodeJS.ProcessEnv);
      const claims = provider.tokens['of a client']!;
      expect(await statusesOf({ ...claims, client_id: 'other' })).toEqual([200, 201]);
      expect(await statusesOf({ ...claims, ...provider.withoutScopes })).toEqual([403, 403]);
      expect(await statusesOf({ ...claims, token_use: 'id' })).toEqual([401, 401]);
    });
});
