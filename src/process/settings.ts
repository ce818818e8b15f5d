import { join, resolve } from 'node:path';
import { z } from 'zod';
import {
  BROKER_PROTOCOLS,
  EVENT_PROTOCOLS,
  validateBrokerUrl,
} from '../../libs/strict-url/src/broker-url.js';
import { validateEventsSecret, validateSecrets } from '../../libs/strict-url/src/webhook.js';
import { useVerifyFull, validateDatabaseUrl } from './database-url.js';
import { LIMITS } from './limits.js';

/** The root folder of the service. */
export const PROJECT = join(import.meta.dirname, '..', '..', '..');
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
/** Either all of these settings are set, or none. */
const REQUIRED_FOR_JWTS = ['AUTH_JWKS_URL', 'AUTH_ISSUER', 'AUTH_AUDIENCE'];
const MISSING = `is missing; set all of ${REQUIRED_FOR_JWTS.join(', ')} or none`;
/** A b64token (RFC 6750, section 2.1) of at least 32 characters. */
const TOKEN = /^(?=.{32})[A-Za-z0-9\-._~+/]+=*$/;
/** The name of a header (RFC 9110, section 5.1), but for `*`, which allows all of them. */
const FIELD_NAME = /^(?!\*$)[\w!#$%&'*+.^`|~-]+$/;

// Messages never repeat a value: some values are secrets.
const wholeNumber = (min: number, max: number, kind = 'a whole number') => {
  const message = `must be ${kind} from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message);
};
const checked = (validate: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const message = validate(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
const onByDefault = z
  .enum(['on', 'off'], 'must be on or off')
  .default('on')
  .transform((value) => value === 'on');
const path = z.string().transform((text) => resolve(text));
const databaseUrl = checked(validateDatabaseUrl).transform(useVerifyFull);
const list = z.string().transform((text) => text.split(',').map((item) => item.trim()));
const tokens = list.refine(
  (items) => items.length <= 2 && items.every((item) => TOKEN.test(item)),
  'must be one or two tokens, separated by a comma, each of at least 32 characters from A-Z a-z 0-9 - . _ ~ + / (= only at the end)',
);
const origins = list.refine(
  (items) => items.join() === '*' || items.every(isOrigin),
  'must be * or origins, separated by commas, as browsers send them: scheme://host[:port] in lower case, such as https://app.example, without path, wildcard or default port',
);
const headerNames = list.refine(
  (names) => names.every((name) => FIELD_NAME.test(name)),
  'must be names of headers, separated by commas, such as sentry-trace,X-Tenant',
);

const UNIT_SECONDS = { second: 1, minute: 60, hour: 3_600 };
const rate = z
  .string()
  .regex(
    /^[1-9]\d{0,8}\/(second|minute|hour)$/,
    'must be N/second, N/minute or N/hour with a whole number N from 1 to 999999999, such as 600/minute',
  )
  .transform((text) => {
    const [requests, unit] = text.split('/');
    return { requests: Number(requests), seconds: UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS] };
  });
const messagesUrl = checked((url) => validateBrokerUrl(url, ['tcp:', ...BROKER_PROTOCOLS]));
const eventsUrl = checked((url) => validateBrokerUrl(url, EVENT_PROTOCOLS));
const jwksUrl = z
  .string(MISSING)
  .refine(isPlainHttpUrl, 'must be an https or http URL, without a user name or password');
const word = (meaning: string) =>
  z.string(MISSING).regex(/^\S{1,255}$/, `must be ${meaning}: at most 255 characters, without spaces`);
const claims = list.refine(
  (names) => names.every((name) => /^\S{1,255}$/.test(name)),
  'must be names of claims, separated by commas, each of at most 255 characters, without spaces',
);
const attributeClaims = list
  .refine(
    (items) =>
      items.length <= 8 &&
      items.every((item) => /^[A-Za-z][A-Za-z0-9_]{0,31}=\S{1,255}$/.test(item)) &&
      new Set(items.map((item) => item.split('=')[0])).size === items.length,
    'must be at most 8 different attributes with claims, separated by commas, such as userId=sub,team=team',
  )
  .transform((items) =>
    Object.fromEntries(items.map((item) => [item.split('=')[0]!, item.slice(item.indexOf('=') + 1)])),
  );

/** A setting: the variable of the environment, and the rule for its value. */
const setting = <Rule extends z.ZodType>(variable: string, rule: Rule) => ({ variable, rule });

const GENERAL = {
  port: setting('PORT', wholeNumber(0, 65_535).default(3000)),
  /** Undefined means all interfaces. */
  host: setting('HOST', z.string().optional()),
  /** Undefined means the embedded PostgreSQL. */
  databaseUrl: setting('DATABASE_URL', databaseUrl.optional()),
  migrationDatabaseUrl: setting('MIGRATION_DATABASE_URL', databaseUrl.optional()),
  /** The transport for messages in addition to HTTP; undefined means none. */
  messagesUrl: setting('MESSAGES_URL', messagesUrl.optional()),
  /** The broker or webhook to which events are published; undefined means none. */
  eventsUrl: setting('EVENTS_URL', eventsUrl.optional()),
  /** One or two secrets that sign the requests to the webhook. */
  eventsSecret: setting('EVENTS_SECRET', checked(validateSecrets).optional()),
  /** The absolute path of the JSON Schema of attributes; undefined: logs have none. */
  attributesSchema: setting('ATTRIBUTES_SCHEMA', path.optional()),
  /** The absolute path of the folder with the embedded PostgreSQL and the first token. */
  dataDir: setting('DATA_DIR', path.default(join(PROJECT, '.data'))),
  logLevel: setting(
    'LOG_LEVEL',
    z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  ),
  /** Whether an operator reads the log, and not the person who has just typed `npm start`. */
  isProduction: setting(
    'NODE_ENV',
    z
      .string()
      .optional()
      .transform((name) => name === 'production'),
  ),
  declaredTokens: setting('ACCESS_TOKEN', tokens.default([])),
  /** Whether access tokens are accepted, including the declared ones. */
  acceptsAccessTokens: setting('AUTH_ACCESS_TOKENS', onByDefault),
  /** The origins whose pages may call the service from a browser; `*` alone means all. */
  corsOrigins: setting('CORS_ORIGINS', origins.default([])),
  /** The request headers that these pages may send in addition to those that the service reads. */
  corsHeaders: setting('CORS_HEADERS', headerNames.default([])),
  /** The number of requests that each token may send to this process; undefined means no limit. */
  rateLimit: setting('RATE_LIMIT', rate.optional()),
  /** In seconds. */
  shutdownDelay: setting('SHUTDOWN_DELAY', wholeNumber(0, 3_600, 'a whole number of seconds').default(0)),
  /** Whether `/openapi.json` and `/docs` are served. */
  apiDocs: setting('API_DOCS', onByDefault),
};

/** The keys and the expected claims of JWTs. */
const JWT = {
  jwksUrl: setting('AUTH_JWKS_URL', jwksUrl),
  issuer: setting('AUTH_ISSUER', word('the iss of the tokens')),
  audience: setting('AUTH_AUDIENCE', word('the aud of the tokens')),
  audienceClaim: setting('AUTH_AUDIENCE_CLAIM', word('the name of a claim').optional()),
  scopeClaims: setting('AUTH_SCOPE_CLAIMS', claims.optional()),
  scopePrefix: setting('AUTH_SCOPE_PREFIX', word('the beginning of scopes').optional()),
  projectsClaim: setting('AUTH_PROJECTS_CLAIM', word('the name of a claim').optional()),
  attributeClaims: setting('AUTH_ATTRIBUTES', attributeClaims.optional()),
};

/** The limits that are settings. */
const CONFIGURED_LIMITS = {
  /** In bytes. */
  batchLimit: setting(
    'BATCH_LIMIT',
    wholeNumber(1_024, 8_388_608, 'a whole number of bytes').default(LIMITS.batchLimit),
  ),
  /** The maximum number of connections to the database. */
  poolSize: setting('POOL_SIZE', wholeNumber(2, 1_000).default(10)),
  /** In hours. */
  keyLifetime: setting(
    'KEY_LIFETIME',
    wholeNumber(1, 8_784, 'a whole number of hours').default(LIMITS.keyLifetime),
  ),
};

/** Settings that may come from a file, whose path is in the variable with the suffix `_FILE`. */
export const SECRETS = [
  'DATABASE_URL',
  'MIGRATION_DATABASE_URL',
  'ACCESS_TOKEN',
  'MESSAGES_URL',
  'EVENTS_URL',
  'EVENTS_SECRET',
] as const;

/** The names of all settings, without the forms with `_FILE`. `NODE_ENV` is a convention of Node.js. */
export const SETTINGS = Object.values({ ...GENERAL, ...JWT, ...CONFIGURED_LIMITS })
  .map(({ variable }) => variable)
  .filter((variable) => variable !== 'NODE_ENV');

/** The settings of 0.3 that are gone. */
export const GONE_SETTINGS = [
  'BODY_LIMIT',
  'DEADLINE',
  'HEADERS_LIMIT',
  'HEADERS_TIMEOUT',
  'KEEP_ALIVE_TIMEOUT',
  'MESSAGES_REPLY_QUEUES',
  'REQUEST_TIMEOUT',
  'TOKEN_CACHE',
  'WRITE_QUEUE',
];

type Variables = Readonly<Record<string, string | undefined>>;
type Group = Readonly<Record<string, ReturnType<typeof setting>>>;
type ValuesOf<Settings extends Group> = { [Name in keyof Settings]: z.output<Settings[Name]['rule']> };
type Jwt = ValuesOf<typeof JWT>;

/** Returns the values of the settings. Adds an error for each invalid one. */
export function parseSettings(variables: Variables, errors: string[]) {
  const valuesOf = <Settings extends Group>(group: Settings) => {
    const values = Object.entries(group).map(([name, { variable, rule }]) => {
      const { data, error } = rule.safeParse(variables[variable]);
      for (const { message } of error?.issues ?? []) errors.push(`${variable}: ${message}`);
      return [name, data];
    });
    return Object.fromEntries(values) as ValuesOf<Settings>;
  };
  const hasJwts = REQUIRED_FOR_JWTS.some((name) => variables[name] !== undefined);
  const jwt: (Partial<Jwt> & Pick<Jwt, 'jwksUrl' | 'issuer' | 'audience'>) | undefined = hasJwts
    ? valuesOf(JWT)
    : undefined;
  const settings = {
    ...valuesOf(GENERAL),
    /** Undefined means that no JWTs are accepted. */
    jwt,
    limits: { ...LIMITS, ...valuesOf(CONFIGURED_LIMITS) },
  };
  if (errors.length === 0) errors.push(...missingIn(variables));
  return settings;
}

/** Returns an error for each setting whose partner is missing, if the service would lose or reveal logs without it. */
function missingIn(variables: Variables): string[] {
  const errors: string[] = [];
  const isSet = (name: string) => variables[name] !== undefined;
  if (isSet('MIGRATION_DATABASE_URL') && !isSet('DATABASE_URL'))
    errors.push('MIGRATION_DATABASE_URL: needs DATABASE_URL; the embedded database needs neither');
  if (isSet('AUTH_ATTRIBUTES') && !isSet('ATTRIBUTES_SCHEMA'))
    errors.push('AUTH_ATTRIBUTES: needs the file that declares these attributes in ATTRIBUTES_SCHEMA');
  const secretFault = validateEventsSecret(variables.EVENTS_URL, variables.EVENTS_SECRET);
  if (secretFault !== undefined) errors.push(`EVENTS_SECRET: ${secretFault}`);
  return errors;
}

/** Returns whether the text is an origin exactly as browsers send it (Fetch, section 3.2). */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host } = new URL(text);
  return host !== '' && !host.includes('*') && text === `${protocol}//${host}`;
}

function isPlainHttpUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username + password === '';
}
