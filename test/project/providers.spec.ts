import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { JwtVerifier } from '../../libs/jwt/src/index.js';
import { IssuerKeys } from '../../libs/jwt/src/issuer-keys.js';
import { loadConfig } from '../../src/process/config.js';
import { type Claims, Issuer, type IssuerKey, makeKey } from '../support/issuer.js';

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
  /** The claims of tokens that may read and record, of those that the service looks at. */
  readonly tokens: readonly Claims[];
  /** The change after which a token has no scope of the service. */
  readonly withoutScopes: Claims;
  /** The change after which a token is for another service. */
  readonly elsewhere: Claims;
}

const BOTH = ['time-logs:read', 'time-logs:write'];
const TENANT = 'https://login.microsoftonline.com/aaaabbbb-0000-cccc-1111-dddd2222eeee';
const POOL = 'https://cognito-idp.us-west-2.amazonaws.com/us-west-2_example';
const AUTH0 = 'https://my-domain.auth0.com/';
const REALM = 'https://keycloak.example/realms/demo';
const OKTA = 'https://dev-123456.okta.com/oauth2/default';

const entra = { iss: `${TENANT}/v2.0`, aud: '00001111-aaaa-2222-bbbb-3333cccc4444', sub: 'a' };
const auth0 = { iss: AUTH0, aud: ['https://time-logs.example', `${AUTH0}userinfo`], sub: 'auth0|1' };
const cognito = {
  ...{ iss: POOL, token_use: 'access', client_id: '57cbishk4j24pabc1234567890', sub: 'a' },
  scope: BOTH.map((scope) => `https://time-logs.example/${scope}`).join(' '),
};

const PROVIDERS: Readonly<Record<string, Provider>> = {
  'Entra ID': {
    keys: `${TENANT}/discovery/v2.0/keys`,
    tokens: [
      { ...entra, roles: BOTH },
      { ...entra, scp: BOTH.join(' ') },
    ],
    withoutScopes: { scp: undefined, roles: ['Reader'] },
    elsewhere: { aud: '00000003-0000-0000-c000-000000000000' },
  },
  Cognito: {
    keys: `${POOL}/.well-known/jwks.json`,
    tokens: [cognito],
    withoutScopes: { scope: `aws.cognito.signin.user.admin https://other.example/${BOTH[0]}` },
    elsewhere: { client_id: 'other' },
  },
  Auth0: {
    keys: `${AUTH0}.well-known/jwks.json`,
    tokens: [
      { ...auth0, scope: 'openid profile email', permissions: BOTH },
      { ...auth0, scope: `openid ${BOTH.join(' ')}`, permissions: [] },
    ],
    withoutScopes: { scope: 'openid profile', permissions: [] },
    elsewhere: { aud: `${AUTH0}userinfo` },
  },
  Keycloak: {
    keys: `${REALM}/protocol/openid-connect/certs`,
    tokens: [
      {
        ...{ iss: REALM, aud: 'time-logs', sub: 'a', scope: 'email profile' },
        resource_access: { 'time-logs': { roles: BOTH } },
      },
    ],
    withoutScopes: { realm_access: { roles: BOTH }, resource_access: { account: { roles: BOTH } } },
    elsewhere: { aud: 'account' },
  },
  Okta: {
    keys: `${OKTA}/v1/keys`,
    tokens: [{ iss: OKTA, aud: 'api://default', sub: 'a', scp: BOTH }],
    withoutScopes: { scp: ['openid', 'email'] },
    elsewhere: { aud: 'https://dev-123456.okta.com' },
  },
  Google: {
    keys: 'https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com',
    tokens: [
      {
        ...{ iss: 'https://securetoken.google.com/my-project', aud: 'my-project', sub: 'a' },
        scope: BOTH.join(' '),
      },
    ],
    withoutScopes: { scope: undefined },
    elsewhere: { aud: 'other-project' },
  },
};

let ownKey: IssuerKey;
/** A key with the same name, which the issuer has not published. */
let foreignKey: IssuerKey;
beforeAll(async () => {
  [ownKey, foreignKey] = await Promise.all([
    makeKey('RS256', '1234example='),
    makeKey('RS256', '1234example='),
  ]);
});

it('the page has settings of every provider', () => {
  expect(Object.keys(BLOCKS)).toEqual(Object.keys(PROVIDERS));
});

describe.each(Object.entries(PROVIDERS))('with the settings on the page, a token of %s', (name, provider) => {
  let issuer: Issuer;
  /** The URLs from which keys were fetched. */
  const asked = new Set<unknown>();

  beforeAll(async () => {
    Logger.overrideLogger(false);
    issuer = await Issuer.start(ownKey);
    const { fetch } = serviceGlobal;
    jest.spyOn(serviceGlobal, 'fetch').mockImplementation((url, init) => {
      asked.add(url);
      return fetch(issuer.settings.jwksUrl, init);
    });
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await issuer.close();
  });

  /** Returns a function that returns the scopes of the service that a token has; undefined if it is refused. */
  const accept = (settings: NodeJS.ProcessEnv = {}) => {
    const jwt = loadConfig({ ...BLOCKS[name], ...settings }, false).jwt!;
    const verifier = new JwtVerifier(new IssuerKeys(jwt.jwksUrl), jwt, 10);
    return async (claims: Claims, header = {}, key = ownKey) => {
      const all = { aud: undefined, sub: undefined, scope: undefined, ...claims };
      const caller = await verifier.verify(await issuer.sign(all, header, key));
      return caller?.scopes.filter((scope) => BOTH.includes(scope));
    };
  };

  it('may read and record if it has the scopes and the audience', async () => {
    const scopesOf = accept();
    for (const claims of provider.tokens) {
      expect(await scopesOf(claims)).toEqual(BOTH);
      expect(await scopesOf({ ...claims, ...provider.withoutScopes })).toEqual([]);
      for (const wrong of [provider.elsewhere, { iss: 'https://issuer.example' }])
        expect(await scopesOf({ ...claims, ...wrong })).toBeUndefined();
    }
    const [claims] = provider.tokens;
    const headers = [{}, { kid: 'unknown' }, { kid: undefined }, { jwk: foreignKey.jwk }];
    for (const header of [...headers, { jku: 'http://127.0.0.1:1/jwks' }])
      expect(await scopesOf(claims!, header, foreignKey)).toBeUndefined();
    expect([...asked]).toEqual([provider.keys]);
  });

  if (name === 'Cognito')
    it('of any client is accepted with the settings for several', async () => {
      const [, setting, value] = /`(AUTH_AUDIENCE_CLAIM=\w+)` and `(AUTH_AUDIENCE=\w+)`/.exec(PAGE)!;
      const settings = [setting!, value!].map((text) => text.split('='));
      const scopesOf = accept(Object.fromEntries(settings) as NodeJS.ProcessEnv);
      const claims = provider.tokens[0]!;
      expect(await scopesOf({ ...claims, client_id: 'other' })).toEqual(BOTH);
      expect(await scopesOf({ ...claims, ...provider.withoutScopes })).toEqual([]);
      expect(await scopesOf({ ...claims, token_use: 'id' })).toBeUndefined();
    });
});
