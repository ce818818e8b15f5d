import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { RequestLimits } from '../../libs/http-edge/src/index.js';
import { faultOfDatabaseUrl, withFullVerification } from './database-url.js';
import { misspelt } from './misspelt.js';
import { TIME_LOG_LIMITS, type TimeLogLimits } from '../time-log/time-log.limits.js';

/** The settings of the service, checked. */
export interface Config {
  readonly port: number;
  /** Undefined: all interfaces. */
  readonly host: string | undefined;
  /** Undefined: the embedded PostgreSQL. */
  readonly databaseUrl: string | undefined;
  readonly migrationDatabaseUrl: string | undefined;
  /** Where messages are taken, beside HTTP; undefined: nowhere. */
  readonly messagesUrl: string | undefined;
  /** A prefix of reply addresses that is allowed in addition to the default one of the broker's clients. */
  readonly messagesReplyQueues: string | undefined;
  /** The broker that gets the event of every recorded log; undefined: none. */
  readonly eventsUrl: string | undefined;
  /** Absolute path of the folder with the embedded PostgreSQL and the first token. */
  readonly dataDir: string;
  readonly logLevel: string;
  /** True: one line of JSON for each event. False: lines for a person at a terminal. */
  readonly logAsJson: boolean;
  readonly declaredTokens: readonly string[];
  /** Whether access tokens are accepted, the declared ones included. */
  readonly takesAccessTokens: boolean;
  /** The issuer whose JWTs are accepted: where it publishes its keys, and what its tokens must contain. */
  readonly jwt:
    | {
        readonly jwksUrl: string;
        readonly issuer: string;
        readonly audience: string;
        readonly projectsClaim?: string | undefined;
      }
    | undefined;
  /** Origins whose pages may call the service from a browser; `*` alone for all. */
  readonly corsOrigins: readonly string[];
  /** How many requests each token may make to this process; undefined: no limit. */
  readonly rateLimit: { readonly requests: number; readonly seconds: number } | undefined;
  /** Seconds. */
  readonly shutdownDelay: number;
  /** Whether `/openapi.json` and `/docs` are served. */
  readonly apiDocs: boolean;
  readonly limits: Limits;
}

/**
 * Limits of what clients may send, and of what the service waits for and keeps in memory. Times are in milliseconds.
 */
interface Limits extends RequestLimits, Readonly<Pick<TimeLogLimits, 'writeQueue'>> {
  /** The most bytes of request line and headers. */
  readonly headersLimit: number;
  /** The most connections to the database. */
  readonly poolSize: number;
  /** The most tokens whose verdict is kept in memory. */
  readonly tokenCache: number;
}

/** The faults of the environment: one line for each variable, with its name and the values that it takes. */
export class ConfigError extends Error {}

const PROJECT = join(import.meta.dirname, '..', '..', '..');
/** This file may set what the environment leaves out, for example on a developer's machine. */
const DOT_ENV = join(PROJECT, '.env');
/** Milliseconds. */
const UNREAD_TIMEOUT = 30_000;
const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
/** All of them or none. */
const JWT_SETTINGS = ['AUTH_JWKS_URL', 'AUTH_ISSUER', 'AUTH_AUDIENCE'];
/** b64token (RFC 6750, section 2.1) of at least 32 characters. */
const TOKEN = /^(?=.{32})[A-Za-z0-9\-._~+/]+=*$/;

// Messages never repeat a value: some values are secrets.
const wholeNumber = (least: number, most: number, unit = 'be a whole number') =>
  number(/^\d{1,9}$/, least, most, `must ${unit} from ${least} to ${most}`);
const number = (form: RegExp, least: number, most: number, message: string) =>
  z
    .string()
    .regex(form, message)
    .transform(Number)
    .refine((value) => value >= least && value <= most, message);
const seconds = (most: number) => wholeNumber(1, most, 'be whole seconds');
const bytes = (least: number, most: number) => wholeNumber(least, most, 'be whole bytes');
const databaseUrl = z
  .string()
  .superRefine((url, context) => {
    const fault = faultOfDatabaseUrl(url);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  })
  .transform(withFullVerification);
const list = z.string().transform((text) => text.split(',').map((item) => item.trim()));
const tokens = list.refine(
  (given) => given.length <= 2 && given.every((token) => TOKEN.test(token)),
  'must be one or two tokens (comma between), each at least 32 characters of A-Z a-z 0-9 - . _ ~ + / (= at the end)',
);
const origins = list.refine(
  (given) => given.join() === '*' || given.every(isOrigin),
  'must be * or origins (comma between) as browsers send them: scheme://host[:port] in lower case, such as https://app.example, without path, wildcard or default port',
);

const UNITS = { second: 1, minute: 60, hour: 3_600 };
const rate = z
  .string()
  .regex(
    /^[1-9]\d{0,8}\/(second|minute|hour)$/,
    'must be N/second, N/minute or N/hour with a whole number N from 1 to 999999999, such as 600/minute',
  )
  .transform((text) => {
    const [requests, unit] = text.split('/');
    return { requests: Number(requests), seconds: UNITS[unit as keyof typeof UNITS] };
  });
const messagesUrl = z
  .string()
  .refine(isMessagesUrl, 'must be tcp://HOST:PORT, nats://HOST:PORT or amqp://USER:PASSWORD@HOST:PORT');
const replyQueues = z
  .string()
  .refine(
    (text) =>
      /^[^$\s*>][^\s*>]{0,254}\*?$/.test(text) &&
      !text.startsWith('time-log') &&
      !'time-log'.startsWith(text.replace('*', '')),
    'must be a name, or how names begin and *: no white space, > or $ in front, and not as ours begin, with time-log',
  );
const eventsUrl = z
  .string()
  .refine(
    (text) => isUrlOf(text, ['nats:', 'amqp:']),
    'must be nats://HOST:PORT or amqp://USER:PASSWORD@HOST:PORT',
  );
const jwksUrl = z
  .string()
  .refine(isPlainHttpUrl, 'must be an https or http URL, without a user name or password');
const word = (what: string) =>
  z.string().regex(/^\S{1,255}$/, `must be ${what}: at most 255 characters, no white space`);

const environment = z.object({
  PORT: wholeNumber(0, 65_535).default(3000),
  HOST: z.string().optional(),
  DATABASE_URL: databaseUrl.optional(),
  MIGRATION_DATABASE_URL: databaseUrl.optional(),
  MESSAGES_URL: messagesUrl.optional(),
  MESSAGES_REPLY_QUEUES: replyQueues.optional(),
  EVENTS_URL: eventsUrl.optional(),
  DATA_DIR: z.string().default(join(PROJECT, '.data')),
  LOG_LEVEL: z.enum(LEVELS, `must be one of ${LEVELS.join(', ')}`).default('info'),
  ACCESS_TOKEN: tokens.optional(),
  AUTH_JWKS_URL: jwksUrl.optional(),
  AUTH_ISSUER: word('the iss of the tokens').optional(),
  AUTH_AUDIENCE: word('the aud of the tokens').optional(),
  AUTH_PROJECTS_CLAIM: word('the name of a claim').optional(),
  AUTH_ACCESS_TOKENS: z.enum(['on', 'off'], 'must be on or off').default('on'),
  CORS_ORIGINS: origins.default([]),
  RATE_LIMIT: rate.optional(),
  SHUTDOWN_DELAY: wholeNumber(0, 3_600, 'be whole seconds').default(0),
  API_DOCS: z.enum(['on', 'off'], 'must be on or off').default('on'),
  HEADERS_TIMEOUT: seconds(600).default(10),
  REQUEST_TIMEOUT: seconds(3_600).default(15),
  KEEP_ALIVE_TIMEOUT: seconds(3_600).default(65),
  HEADERS_LIMIT: bytes(4_096, 1_048_576).default(16_384),
  BODY_LIMIT: bytes(1_024, 1_048_576).default(TIME_LOG_LIMITS.bodyLimit),
  // No more than the drain gives a request in flight.
  DEADLINE: number(/^\d(\.\d{1,3})?$/, 0.1, 5, 'must be seconds from 0.1 to 5, such as 2.5').default(
    TIME_LOG_LIMITS.deadline / 1_000,
  ),
  POOL_SIZE: wholeNumber(2, 1_000).default(10),
  WRITE_QUEUE: wholeNumber(1, 100_000).default(TIME_LOG_LIMITS.writeQueue),
  TOKEN_CACHE: wholeNumber(1, 100_000).default(10_000),
  NODE_ENV: z.string().optional(),
});

/** These may also come from a file: the variable with `_FILE` at the end of its name holds the path. */
const SECRETS = [
  'DATABASE_URL',
  'MIGRATION_DATABASE_URL',
  'ACCESS_TOKEN',
  'MESSAGES_URL',
  'EVENTS_URL',
] as const;

/** The names of all variables that the service reads. */
export const SETTINGS = [...Object.keys(environment.shape), ...SECRETS.map((name) => `${name}_FILE`)];

/**
 * The settings of this process, for main.ts and the commands. The environment comes first; the project's `.env` fills
 * in what it leaves out. `say` gets a line for whoever set them, and whether it warns. Throws ConfigError that lists
 * every fault.
 */
export function loadProcessConfig(
  say: (line: string, level: 'log' | 'warn') => void = (line) => console.error(line),
): Config {
  const isRead = readDotEnv();
  removeLibpqVariables(process.env);
  const slips = misspelt(Object.keys(withoutEmpty(process.env)), SETTINGS);
  try {
    const config = loadConfig(process.env, process.stdout.isTTY);
    if (isRead) say(`settings that the environment leaves out are read from ${DOT_ENV}`, 'log');
    for (const slip of slips) say(slip, 'warn');
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const origin = isRead ? [`The settings come from the environment and from ${DOT_ENV}`] : [];
    throw new ConfigError([error.message, ...slips, ...origin].join('\n'));
  }
}

/** Adds the project's `.env` to the environment of this process. Returns false where there is none. */
function readDotEnv(): boolean {
  try {
    process.loadEnvFile(DOT_ENV);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw new ConfigError(`${DOT_ENV}: must be a file that can be read`);
  }
}

/**
 * Removes the variables of libpq (PGPORT, PGOPTIONS, PGSSLMODE, PGPASSWORD…). node-postgres would use them for whatever
 * the URL leaves out. The URL alone must decide how the service connects, whatever else the shell is used for.
 */
export function removeLibpqVariables(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env)) if (name.startsWith('PG')) Reflect.deleteProperty(env, name);
}

/** Checks an environment. Throws ConfigError that lists every fault. */
export function loadConfig(env: NodeJS.ProcessEnv, isTerminal: boolean): Config {
  const faults: string[] = [];
  const given = withoutEmpty(env);
  for (const name of SECRETS) {
    const file = given[`${name}_FILE`];
    if (file === undefined) continue;
    if (given[name] !== undefined) faults.push(`${name}_FILE: give it or ${name}, not both`);
    try {
      given[name] = readFileSync(file, 'utf8').trim();
    } catch {
      faults.push(`${name}_FILE: must be the path of a file that can be read`);
    }
  }
  const { data, error } = environment.safeParse(given);
  for (const { path, message } of error?.issues ?? []) faults.push(`${path.join('.')}: ${message}`);
  if (data?.MIGRATION_DATABASE_URL !== undefined && data.DATABASE_URL === undefined) {
    faults.push('MIGRATION_DATABASE_URL: goes with DATABASE_URL; the embedded database needs neither');
  }
  if (data && data.REQUEST_TIMEOUT < data.HEADERS_TIMEOUT) {
    faults.push('REQUEST_TIMEOUT: must not be below HEADERS_TIMEOUT, which is a part of it');
  }
  faults.push(...tokenFaults(given));
  if (!data || faults.length > 0) throw new ConfigError(faults.join('\n'));
  return {
    port: data.PORT,
    host: data.HOST,
    databaseUrl: data.DATABASE_URL,
    migrationDatabaseUrl: data.MIGRATION_DATABASE_URL,
    messagesUrl: data.MESSAGES_URL,
    messagesReplyQueues: data.MESSAGES_REPLY_QUEUES,
    eventsUrl: data.EVENTS_URL,
    dataDir: resolve(data.DATA_DIR),
    logLevel: data.LOG_LEVEL,
    logAsJson: data.NODE_ENV === 'production' || !isTerminal,
    declaredTokens: data.ACCESS_TOKEN ?? [],
    takesAccessTokens: data.AUTH_ACCESS_TOKENS === 'on',
    jwt:
      data.AUTH_JWKS_URL === undefined
        ? undefined
        : {
            jwksUrl: data.AUTH_JWKS_URL,
            issuer: data.AUTH_ISSUER!,
            audience: data.AUTH_AUDIENCE!,
            projectsClaim: data.AUTH_PROJECTS_CLAIM,
          },
    corsOrigins: data.CORS_ORIGINS,
    rateLimit: data.RATE_LIMIT,
    shutdownDelay: data.SHUTDOWN_DELAY,
    apiDocs: data.API_DOCS === 'on',
    limits: {
      headersTimeout: data.HEADERS_TIMEOUT * 1_000,
      requestTimeout: data.REQUEST_TIMEOUT * 1_000,
      keepAliveTimeout: data.KEEP_ALIVE_TIMEOUT * 1_000,
      unreadTimeout: UNREAD_TIMEOUT,
      headersLimit: data.HEADERS_LIMIT,
      bodyLimit: data.BODY_LIMIT,
      deadline: data.DEADLINE * 1_000,
      poolSize: data.POOL_SIZE,
      writeQueue: data.WRITE_QUEUE,
      tokenCache: data.TOKEN_CACHE,
    },
  };
}

/** An origin in the form that browsers send (Fetch standard, section 3.2): it is compared letter by letter. */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host } = new URL(text);
  return host !== '' && !host.includes('*') && text === `${protocol}//${host}`;
}

/** Settings of tokens that contradict each other. */
function tokenFaults(given: Record<string, string | undefined>): string[] {
  const together = JWT_SETTINGS.join(', ');
  const missing = JWT_SETTINGS.filter((name) => given[name] === undefined);
  const hasJwts = missing.length < JWT_SETTINGS.length;
  const faults = hasJwts ? missing.map((name) => `${name}: is missing; ${together} go together`) : [];
  if (!hasJwts && given.AUTH_PROJECTS_CLAIM !== undefined)
    faults.push(`AUTH_PROJECTS_CLAIM: is of JWTs; it needs ${together}`);
  const isOff = given.AUTH_ACCESS_TOKENS === 'off';
  if (isOff && !hasJwts)
    faults.push(`AUTH_ACCESS_TOKENS: off leaves no token that is good; it needs ${together}`);
  if (isOff && given.ACCESS_TOKEN !== undefined)
    faults.push('ACCESS_TOKEN: is not taken with AUTH_ACCESS_TOKENS=off; leave out one of the two');
  if (hasJwts && given.ACCESS_TOKEN?.split(',').some((token) => token.split('.').length === 3))
    faults.push('ACCESS_TOKEN: must not have two dots beside AUTH_JWKS_URL: it would be taken for a JWT');
  return faults;
}

function isMessagesUrl(text: string): boolean {
  if (!isUrlOf(text, ['tcp:', 'nats:', 'amqp:'])) return false;
  const { protocol, port } = new URL(text);
  return protocol !== 'tcp:' || port !== '';
}

function isUrlOf(text: string, protocols: readonly string[]): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return hostname !== '' && protocols.includes(protocol);
}

function isPlainHttpUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username + password === '';
}

/** A variable with an empty value counts as absent: compose files and shells set such. */
function withoutEmpty(env: NodeJS.ProcessEnv): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}
