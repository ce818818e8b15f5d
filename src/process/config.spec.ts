import { describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ConfigError, loadConfig, removeLibpqVariables } from './config.js';
import { useFolder } from '../../test/support/fixtures.js';
import { GONE_SETTINGS, SECRETS, SETTINGS } from './settings.js';

const TOKEN = 'abcdefghijklmnopqrstuvwxyz012345';
const JWT = {
  AUTH_JWKS_URL: 'https://issuer.example/jwks',
  AUTH_ISSUER: 'https://issuer.example/',
  AUTH_AUDIENCE: 'time-logs',
};

const SECRET = `whsec_${Buffer.alloc(24).toString('base64')}`;
/** Returns the settings that another one needs. */
const neededBy = (name: string): NodeJS.ProcessEnv => {
  if (name === 'AUTH_ATTRIBUTES') return { ...JWT, ATTRIBUTES_SCHEMA: 'schema.json' };
  if (name.startsWith('AUTH_')) return JWT;
  return name === 'EVENTS_SECRET' ? { EVENTS_URL: 'https://hooks.example' } : {};
};

function errorsOf(env: NodeJS.ProcessEnv): string[] {
  try {
    loadConfig(env, false);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message.split('\n');
  }
  return [];
}

/** Returns a pair of name and value for each value of each setting. */
const pairsOf = (all: Record<string, readonly string[]>) =>
  Object.entries(all).flatMap(([name, values]) => values.map((value) => [name, value] as const));

describe('loadConfig', () => {
  it('uses the values of the environment', () => {
    const config = loadConfig(
      {
        PORT: '8080',
        HOST: '127.0.0.1',
        DATABASE_URL: 'postgres://a@b/c',
        MIGRATION_DATABASE_URL: 'postgresql://d@e/f?sslmode=require',
        ATTRIBUTES_SCHEMA: 'person.json',
        DATA_DIR: 'some/where',
        LOG_LEVEL: 'debug',
        ACCESS_TOKEN: ` ${TOKEN} , ${TOKEN}9 `,
        CORS_ORIGINS: 'https://app.example, http://localhost:5173',
        CORS_HEADERS: 'sentry-trace, X-Tenant',
        RATE_LIMIT: '600/minute',
        ...JWT,
        AUTH_AUDIENCE_CLAIM: 'client_id',
        AUTH_SCOPE_CLAIMS: 'scope, resource_access.time-logs.roles',
        AUTH_SCOPE_PREFIX: 'https://api.example/',
        AUTH_PROJECTS_CLAIM: 'https://issuer.example/projects',
        AUTH_ATTRIBUTES: 'userId=sub, team=https://issuer.example/a=b',
        EVENTS_URL: 'https://hooks.example/path',
        EVENTS_SECRET: SECRET,
        AUTH_ACCESS_TOKENS: 'on',
        SHUTDOWN_DELAY: '15',
        API_DOCS: 'off',
        BATCH_LIMIT: '6000',
        POOL_SIZE: '7',
        KEY_LIFETIME: '8784',
      },
      false,
    );
    expect(config).toEqual({
      port: 8080,
      host: '127.0.0.1',
      databaseUrl: 'postgres://a@b/c',
      migrationDatabaseUrl: 'postgresql://d@e/f?sslmode=verify-full',
      eventsUrl: 'https://hooks.example/path',
      eventsSecret: SECRET,
      attributesSchema: resolve('person.json'),
      dataDir: resolve('some/where'),
      logLevel: 'debug',
      logAsJson: true,
      isProduction: false,
      declaredTokens: [TOKEN, `${TOKEN}9`],
      corsOrigins: ['https://app.example', 'http://localhost:5173'],
      corsHeaders: ['sentry-trace', 'X-Tenant'],
      rateLimit: { requests: 600, seconds: 60 },
      acceptsAccessTokens: true,
      jwt: {
        jwksUrl: JWT.AUTH_JWKS_URL,
        issuer: JWT.AUTH_ISSUER,
        audience: JWT.AUTH_AUDIENCE,
        audienceClaim: 'client_id',
        scopeClaims: ['scope', 'resource_access.time-logs.roles'],
        scopePrefix: 'https://api.example/',
        projectsClaim: 'https://issuer.example/projects',
        attributeClaims: { userId: 'sub', team: 'https://issuer.example/a=b' },
      },
      shutdownDelay: 15,
      apiDocs: false,
      limits: {
        headersTimeout: 10_000,
        requestTimeout: 15_000,
        keepAliveTimeout: 65_000,
        headersLimit: 16_384,
        bodyLimit: 65_536,
        batchLimit: 6_000,
        deadline: 2_500,
        poolSize: 7,
        writeQueue: 2_000,
        keyLifetime: 8_784,
        tokenCache: 10_000,
      },
    });
  });

  it('treats an empty variable as missing', () => {
    const empty = Object.fromEntries(SETTINGS.map((name) => [name, '']));
    expect(loadConfig(empty, true)).toEqual(loadConfig({}, true));
  });

  it.each([
    [true, undefined, false],
    [true, 'production', true],
    [false, undefined, true],
    [false, 'development', true],
  ])('with terminal %p and NODE_ENV %p sets logAsJson to %p', (isTerminal, NODE_ENV, expected) => {
    const config = loadConfig({ NODE_ENV }, isTerminal);
    expect(config.logAsJson).toBe(expected);
    expect(config.isProduction).toBe(NODE_ENV === 'production');
  });

  it.each(
    pairsOf({
      PORT: ['0', '65535'],
      LOG_LEVEL: ['silent', 'fatal'],
      CORS_ORIGINS: [
        ...['*', 'http://127.0.0.1:8080', 'https://[::1]:8443,https://xn--bcher-kva.example'],
        'capacitor://localhost,chrome-extension://abcdefghijklmnop',
      ],
      CORS_HEADERS: ['x', 'sentry-trace , X_Tenant', "!#$%&'*+-.^_`|~09azAZ"],
      RATE_LIMIT: ['1/second', '999999999/hour'],
      SHUTDOWN_DELAY: ['3600'],
      API_DOCS: ['on'],
      BATCH_LIMIT: ['8388608'],
      AUTH_JWKS_URL: ['http://issuer:8080/a/certs?x=1', 'HTTPS://issuer.example', 'http://[::1]:8080/jwks'],
      AUTH_ISSUER: ['any-text'],
      ACCESS_TOKEN: [`${TOKEN}==`, `${TOKEN},-._~+/${TOKEN}`, ` ${TOKEN} , ${TOKEN}9 `],
      AUTH_AUDIENCE: ['api://6e74172b-be56-4843-9ff4-e66a39bb12e3', 'x'.repeat(255)],
    }),
  )('accepts %s=%s', (name, value) => {
    expect(errorsOf({ ...neededBy(name), [name]: value })).toEqual([]);
  });

  it.each<[NodeJS.ProcessEnv, string[]]>([
    [
      { MIGRATION_DATABASE_URL: 'postgres://a@b/c' },
      ['MIGRATION_DATABASE_URL: needs DATABASE_URL; the embedded database needs neither'],
    ],
    [{ ...JWT, AUTH_ACCESS_TOKENS: 'off' }, []],
    [
      { EVENTS_URL: 'https://hooks.example' },
      [
        'EVENTS_SECRET: is missing, and a webhook needs it; set it to the output of: echo "whsec_$(openssl rand -base64 32)"',
      ],
    ],
    [
      { ...JWT, AUTH_ATTRIBUTES: 'userId=sub' },
      ['AUTH_ATTRIBUTES: needs the file that declares these attributes in ATTRIBUTES_SCHEMA'],
    ],
    ...Object.keys(JWT).map((name): [NodeJS.ProcessEnv, string[]] => [
      { ...JWT, [name]: '' },
      [`${name}: is missing; set all of AUTH_JWKS_URL, AUTH_ISSUER, AUTH_AUDIENCE or none`],
    ]),
  ])('rejects settings that lack another one: %j', (env, errors) => {
    expect(errorsOf(env)).toEqual(errors);
  });

  it.each(
    pairsOf({
      PORT: ['65536', '-1', '80.5', '0x50', ' 80', '99999999999999999999'],
      DATABASE_URL: ['localhost:5432'],
      MIGRATION_DATABASE_URL: ['x'],
      LOG_LEVEL: ['verbose', 'INFO'],
      CORS_ORIGINS: [
        ...['app.example', 'localhost:5173', 'https://app.example/', 'https://app.example/path'],
        ...['https://app.example?', 'https://user@app.example', 'https://App.example', 'HTTPS://app.example'],
        ...['https://bücher.example', 'https://a.example:443', 'https://*.example', 'https://a.example,*'],
        ...['*,*', 'https://app.example,', 'https://app.example https://other.example'],
        ...['https://app.example\r\nX: y', 'file://', 'https://', 'null'],
      ],
      CORS_HEADERS: [
        '*',
        ...['X-Tenant,', 'X Tenant', 'X-Tenant: a', '"X-Tenant"', 'X-Ünit', 'X-Tenant\r\nX: y'],
      ],
      RATE_LIMIT: [
        ...['600', '0/minute', '1.5/minute', '1000000000/hour', '600/day', '600 / minute', '6/minute/token'],
      ],
      SHUTDOWN_DELAY: ['3601', '1.5', '10s'],
      API_DOCS: ['true', 'ON'],
      BATCH_LIMIT: ['0', '8388609'],
      POOL_SIZE: ['1', '1001'],
      KEY_LIFETIME: ['0', '8785', '1.5', '24h'],
      AUTH_ACCESS_TOKENS: ['false', 'OFF'],
      EVENTS_URL: ['tcp://x:1', 'http://x:1', 'nats:', 'x'],
      EVENTS_SECRET: ['x', `${SECRET},`, SECRET.slice(1)],
      MESSAGES_URL: ['http://x:1', 'https://x', 'tcp://x'],
      AUTH_JWKS_URL: [
        ...['issuer.example/jwks', 'ftp://issuer.example/jwks', 'file:///etc/passwd', 'https://'],
        ...['https://issuer example/', 'https://user@issuer.example/', 'https://:password@issuer.example/'],
      ],
      AUTH_ISSUER: [' https://issuer.example', 'x'.repeat(256)],
      AUTH_AUDIENCE: ['one two', 'time-logs\n'],
      AUTH_AUDIENCE_CLAIM: ['two words', 'x'.repeat(256)],
      AUTH_SCOPE_CLAIMS: ['scope,', ',', 'scope,,scp', 'scope scp', 'x'.repeat(256)],
      AUTH_SCOPE_PREFIX: ['two words', 'x'.repeat(256)],
      AUTH_PROJECTS_CLAIM: ['two words', 'x'.repeat(256)],
      AUTH_ATTRIBUTES: [
        ...['userId', 'userId=', '=sub', '1a=sub', 'a=b,a=c', 'a=b,', 'a=b c'],
        'abcdefghi'.replace(/./g, '$&=x,') + 'j=x',
      ],
      ACCESS_TOKEN: [
        ...[TOKEN.slice(1), `${TOKEN},short`, `${TOKEN},${TOKEN}1,${TOKEN}2`, `${TOKEN},`, '   '],
        ...[`${TOKEN} ${TOKEN}`, `${TOKEN}=${TOKEN}`, `${TOKEN}é`, `${TOKEN}\n${TOKEN}`, `"${TOKEN}"`],
      ],
    }),
  )('rejects %s=%j with one line that contains its name but not its value', (name, value) => {
    const errors = errorsOf({ ...neededBy(name), [name]: value });
    expect(errors).toEqual([expect.stringMatching(`^${name}: must be `)]);
    expect(errors.join()).not.toContain(TOKEN.slice(1));
  });
});

describe('the secrets', () => {
  const inFolder = useFolder('config-spec-');
  const fileWith = async (text: string, encoding: BufferEncoding = 'utf8') => {
    const file = inFolder('a secret');
    await writeFile(file, text, encoding);
    return file;
  };

  it.each([TOKEN, `\n ${TOKEN} \r\n`, `\uFEFF${TOKEN},${TOKEN}9\n`])(
    'may come from the file %j',
    async (text) => {
      const ACCESS_TOKEN_FILE = await fileWith(text);
      expect(loadConfig({ ACCESS_TOKEN_FILE }, false)).toEqual(
        loadConfig({ ACCESS_TOKEN: text.trim() }, false),
      );
    },
  );

  it.each(['', '\n', 'short'])('are rejected from the file %j, without its content', async (text) => {
    const errors = errorsOf({ ACCESS_TOKEN_FILE: await fileWith(text) });
    expect(errors).toEqual([expect.stringMatching(/^ACCESS_TOKEN: must /)]);
    expect(errors.join()).not.toContain('short');
  });

  it.each(['DATABASE_URL', 'MIGRATION_DATABASE_URL', 'ACCESS_TOKEN'])(
    'are rejected if %s is set twice, or its file is missing',
    (name) => {
      const errors = errorsOf({ [name]: 'x', [`${name}_FILE`]: inFolder('missing') });
      expect(errors).toEqual(
        expect.arrayContaining([
          `${name}_FILE: set either it or ${name}, not both`,
          `${name}_FILE: must be the path of a readable file in UTF-8`,
        ]),
      );
    },
  );
});

it('refuses parameters of both URLs of brokers that would be ignored, in one line for each', () => {
  const url = 'tls://ada:sesame@broker?ca_file=x';
  const message = 'has an unknown parameter ca_file (known: cafile)';
  expect(() => loadConfig({ MESSAGES_URL: url, EVENTS_URL: url }, false)).toThrow(
    new Error(`MESSAGES_URL: ${message}\nEVENTS_URL: ${message}`),
  );
});

describe('the table of docker/SETTINGS.md', () => {
  it('lists every variable with its default', async () => {
    const settings = await readFile(join(import.meta.dirname, '..', '..', 'docker', 'SETTINGS.md'), 'utf8');
    const table = /^\| variable \|.*\n\|[-|]+\|\n((?:\|.*\n)+)/m.exec(settings)?.[1] ?? '';
    const rows = table
      .trim()
      .split('\n')
      .map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));
    const named = rows.flatMap(([, names = '']) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
    const all = [...SETTINGS, ...SECRETS.map((name) => `${name}_FILE`), 'NODE_ENV'];
    expect(named.toSorted()).toEqual(all.toSorted());
    // A default in the table equals the default in the code: setting it changes nothing.
    for (const [, names = '', , defaults = ''] of rows) {
      const values = defaults.split(', ');
      for (const [index, [, name]] of [...names.matchAll(/`(\w+)`/g)].entries()) {
        const value = /^`?([\w.]+)`?$/.exec(values[index] ?? '')?.[1];
        if (value === undefined || value === 'none') continue;
        expect([name, loadConfig({ [name!]: value }, true)]).toEqual([name, loadConfig({}, true)]);
      }
    }
  });
});

describe('.env.example', () => {
  it('has each of the 28 settings once, and does not change them', async () => {
    const text = await readFile(join(import.meta.dirname, '..', '..', '.env.example'), 'utf8');
    const lines = [...text.matchAll(/^#? ?(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!] as const);
    expect(lines).toHaveLength(28);
    expect(lines.map(([name]) => name).toSorted()).toEqual(SETTINGS.toSorted());
    expect(GONE_SETTINGS.filter((name) => SETTINGS.includes(name))).toEqual([]);
    expect(loadConfig(Object.fromEntries(lines), true)).toEqual(loadConfig({}, true));
  });
});

it('removes the variables of libpq, which the driver would use for what the URL does not have', () => {
  const env = {
    PGHOST: 'db.invalid',
    PGOPTIONS: '-c search_path=elsewhere',
    PGSSLMODE: 'disable',
    PATH: '/bin',
  };
  removeLibpqVariables(env);
  expect(env).toEqual({ PATH: '/bin' });
});
