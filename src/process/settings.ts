import { join } from 'node:path';
import { z } from 'zod';
import {
  BROKER_PROTOCOLS,
  EVENT_PROTOCOLS,
  validateBrokerUrl,
} from '../../libs/strict-url/src/broker-url.js';
import { validateEventsSecret, validateSecrets } from '../../libs/strict-url/src/webhook.js';
import { TIME_LOG_LIMITS } from '../time-log/time-log.limits.js';
import { useVerifyFull, validateDatabaseUrl } from './database-url.js';

/** The root folder of the service. */
export const PROJECT = join(import.meta.dirname, '..', '..', '..');
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
/** Either all of these settings are set, or none. */
const JWT_SETTINGS = ['AUTH_JWKS_URL', 'AUTH_ISSUER', 'AUTH_AUDIENCE'];
/** Settings that apply only to JWTs. */
const JWT_OPTIONS = [
  'AUTH_AUDIENCE_CLAIM',
  'AUTH_SCOPE_CLAIMS',
  'AUTH_SCOPE_PREFIX',
  'AUTH_PROJECTS_CLAIM',
  'AUTH_ATTRIBUTES',
];
/** A b64token (RFC 6750, section 2.1) of at least 32 characters. */
const TOKEN = /^(?=.{32})[A-Za-z0-9\-._~+/]+=*$/;
/** The name of a header (RFC 9110, section 5.1), but for `*`, which allows all of them. */
const FIELD_NAME = /^(?!\*$)[\w!#$%&'*+.^`|~-]+$/;

// Messages never repeat a value: some values are secrets.
const wholeNumber = (min: number, max: number, kind = 'a whole number') =>
  number(/^\d{1,9}$/, min, max, `must be ${kind} from ${min} to ${max}`);
const number = (pattern: RegExp, min: number, max: number, message: string) =>
  z
    .string()
    .regex(pattern, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message);
const seconds = (max: number) => wholeNumber(1, max, 'a whole number of seconds');
const bytes = (min: number, max: number) => wholeNumber(min, max, 'a whole number of bytes');
const checked = (validate: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const message = validate(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
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
const replyQueues = z
  .string()
  .refine(
    (text) =>
      /^[^$\s*>][^\s*>]{0,254}\*?$/.test(text) &&
      !text.startsWith('time-log') &&
      !'time-log'.startsWith(text.replace('*', '')),
    'must be the name of a queue, or a prefix followed by *, without spaces or >; it must not start with $ or time-log, nor be a beginning of time-log',
  );
const eventsUrl = checked((url) => validateBrokerUrl(url, EVENT_PROTOCOLS));
const jwksUrl = z
  .string()
  .refine(isPlainHttpUrl, 'must be an https or http URL, without a user name or password');
const word = (meaning: string) =>
  z.string().regex(/^\S{1,255}$/, `must be ${meaning}: at most 255 characters, without spaces`);
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

const environment = z.object({
  PORT: wholeNumber(0, 65_535).default(3000),
  HOST: z.string().optional(),
  DATABASE_URL: databaseUrl.optional(),
  MIGRATION_DATABASE_URL: databaseUrl.optional(),
  MESSAGES_URL: messagesUrl.optional(),
  MESSAGES_REPLY_QUEUES: replyQueues.optional(),
  EVENTS_URL: eventsUrl.optional(),
  EVENTS_SECRET: checked(validateSecrets).optional(),
  ATTRIBUTES_SCHEMA: z.string().optional(),
  DATA_DIR: z.string().default(join(PROJECT, '.data')),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  ACCESS_TOKEN: tokens.optional(),
  AUTH_JWKS_URL: jwksUrl.optional(),
  AUTH_ISSUER: word('the iss of the tokens').optional(),
  AUTH_AUDIENCE: word('the aud of the tokens').optional(),
  AUTH_AUDIENCE_CLAIM: word('the name of a claim').optional(),
  AUTH_SCOPE_CLAIMS: claims.optional(),
  AUTH_SCOPE_PREFIX: word('the beginning of scopes').optional(),
  AUTH_PROJECTS_CLAIM: word('the name of a claim').optional(),
  AUTH_ATTRIBUTES: attributeClaims.optional(),
  AUTH_ACCESS_TOKENS: z.enum(['on', 'off'], 'must be on or off').default('on'),
  CORS_ORIGINS: origins.default([]),
  CORS_HEADERS: headerNames.default([]),
  RATE_LIMIT: rate.optional(),
  SHUTDOWN_DELAY: wholeNumber(0, 3_600, 'a whole number of seconds').default(0),
  API_DOCS: z.enum(['on', 'off'], 'must be on or off').default('on'),
  HEADERS_TIMEOUT: seconds(600).default(10),
  REQUEST_TIMEOUT: seconds(3_600).default(15),
  KEEP_ALIVE_TIMEOUT: seconds(3_600).default(65),
  HEADERS_LIMIT: bytes(4_096, 1_048_576).default(16_384),
  BODY_LIMIT: bytes(1_024, 1_048_576).default(TIME_LOG_LIMITS.bodyLimit),
  BATCH_LIMIT: bytes(1_024, 8_388_608).default(TIME_LOG_LIMITS.batchLimit),
  // At most the time that the drain allows for a request in progress.
  DEADLINE: number(
    /^\d(\.\d{1,3})?$/,
    0.1,
    5,
    'must be a number of seconds from 0.1 to 5, such as 2.5',
  ).default(TIME_LOG_LIMITS.deadline / 1_000),
  POOL_SIZE: wholeNumber(2, 1_000).default(10),
  WRITE_QUEUE: wholeNumber(1, 100_000).default(TIME_LOG_LIMITS.writeQueue),
  KEY_LIFETIME: wholeNumber(1, 8_784, 'a whole number of hours').default(TIME_LOG_LIMITS.keyLifetime),
  TOKEN_CACHE: wholeNumber(1, 100_000).default(10_000),
  NODE_ENV: z.string().optional(),
});

/** Settings that may come from a file, whose path is in the variable with the suffix `_FILE`. */
export const SECRETS = [
  'DATABASE_URL',
  'MIGRATION_DATABASE_URL',
  'ACCESS_TOKEN',
  'MESSAGES_URL',
  'EVENTS_URL',
  'EVENTS_SECRET',
] as const;

/** The names of all variables that the service reads. */
export const SETTINGS = [...Object.keys(environment.shape), ...SECRETS.map((name) => `${name}_FILE`)];

export type Settings = z.infer<typeof environment>;

type Variables = Readonly<Record<string, string | undefined>>;

/** Returns the values of the settings, and an error for each invalid or contradictory one. */
export function parseSettings(variables: Variables): {
  readonly data: Settings | undefined;
  readonly faults: readonly string[];
} {
  const { data, error } = environment.safeParse(variables);
  const faults = (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
  if (data?.MIGRATION_DATABASE_URL !== undefined && data.DATABASE_URL === undefined) {
    faults.push('MIGRATION_DATABASE_URL: needs DATABASE_URL; the embedded database needs neither');
  }
  if (data && data.REQUEST_TIMEOUT < data.HEADERS_TIMEOUT) {
    faults.push('REQUEST_TIMEOUT: must not be less than HEADERS_TIMEOUT, which it includes');
  }
  if (data && data.CORS_HEADERS.length > 0 && data.CORS_ORIGINS.length === 0) {
    faults.push(
      'CORS_HEADERS: needs CORS_ORIGINS; without it no page of another origin may call the service',
    );
  }
  const secretFault = data && validateEventsSecret(data.EVENTS_URL, data.EVENTS_SECRET);
  if (secretFault !== undefined) faults.push(`EVENTS_SECRET: ${secretFault}`);
  return { data, faults: [...faults, ...tokenFaults(variables)] };
}

/** Returns an error for each token setting that contradicts another one. */
function tokenFaults(variables: Variables): string[] {
  const names = JWT_SETTINGS.join(', ');
  const missing = JWT_SETTINGS.filter((name) => variables[name] === undefined);
  const hasJwts = missing.length < JWT_SETTINGS.length;
  const errors = hasJwts ? missing.map((name) => `${name}: is missing; set all of ${names} or none`) : [];
  for (const name of JWT_OPTIONS)
    if (!hasJwts && variables[name] !== undefined)
      errors.push(`${name}: applies only to JWTs; it needs ${names}`);
  if (variables.AUTH_ATTRIBUTES !== undefined && variables.ATTRIBUTES_SCHEMA === undefined)
    errors.push('AUTH_ATTRIBUTES: needs the file that declares these attributes in ATTRIBUTES_SCHEMA');
  const isOff = variables.AUTH_ACCESS_TOKENS === 'off';
  if (isOff && !hasJwts)
    errors.push(`AUTH_ACCESS_TOKENS: off means that no token is valid; it needs ${names}`);
  if (isOff && variables.ACCESS_TOKEN !== undefined)
    errors.push('ACCESS_TOKEN: is not accepted with AUTH_ACCESS_TOKENS=off; remove one of the two');
  if (hasJwts && variables.ACCESS_TOKEN?.split(',').some((token) => token.split('.').length === 3))
    errors.push('ACCESS_TOKEN: must not contain two dots with AUTH_JWKS_URL: it would be treated as a JWT');
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
