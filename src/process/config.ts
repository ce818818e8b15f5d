import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { parseSettings, PROJECT, SECRETS, type Settings, SETTINGS } from './settings.js';
import { suggestSettings } from './suggest-setting.js';

/** Invalid settings. The message has a line for each one, with its name and the valid values. */
export class ConfigError extends Error {}

/** An optional file with settings, for example on a developer's machine. */
const DOT_ENV = join(PROJECT, '.env');
const UNREAD_TIMEOUT_MS = 30_000;

/**
 * Returns the settings of this process, for main.ts and the commands. The project's `.env` sets
 * what the environment does not. Calls `report` with each line for the operator. Throws a
 * ConfigError that lists every error.
 */
export function loadProcessConfig(
  report: (line: string, level: 'log' | 'warn') => void = (line) => console.error(line),
): Config {
  const hasDotEnv = readDotEnv();
  removeLibpqVariables(process.env);
  const suggestions = suggestSettings(Object.keys(withoutEmpty(process.env)), SETTINGS);
  try {
    const config = loadConfig(process.env, process.stdout.isTTY);
    if (hasDotEnv) report(`settings that the environment does not set are read from ${DOT_ENV}`, 'log');
    for (const suggestion of suggestions) report(suggestion, 'warn');
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const origin = hasDotEnv ? [`The settings come from the environment and from ${DOT_ENV}`] : [];
    throw new ConfigError([error.message, ...suggestions, ...origin].join('\n'));
  }
}

/** Adds the project's `.env` to the environment. Returns false if it does not exist. */
function readDotEnv(): boolean {
  try {
    // process.loadEnvFile would read a byte order mark as a part of the first name.
    const settings = parseEnv(readText(DOT_ENV));
    for (const name in settings) process.env[name] ??= settings[name];
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw new ConfigError(`${DOT_ENV}: must be a readable file in UTF-8`);
  }
}

/** Returns the text of a file without a byte order mark. Throws if it is not UTF-8. */
function readText(file: string): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
}

/**
 * Removes the variables of libpq (PGPORT, PGOPTIONS, PGSSLMODE, PGPASSWORD…). node-postgres would
 * use them for parts that the URL does not have, but the URL alone must determine how the service
 * connects.
 */
export function removeLibpqVariables(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env)) if (name.startsWith('PG')) Reflect.deleteProperty(env, name);
}

/** The validated settings of the service. */
export type Config = Readonly<ReturnType<typeof loadConfig>>;

/** Validates an environment. Throws a ConfigError that lists every error. */
export function loadConfig(env: NodeJS.ProcessEnv, isTerminal: boolean) {
  const errors: string[] = [];
  const variables = withoutEmpty(env);
  for (const name of SECRETS) {
    const file = variables[`${name}_FILE`];
    if (file === undefined) continue;
    if (variables[name] !== undefined) errors.push(`${name}_FILE: set either it or ${name}, not both`);
    try {
      variables[name] = readText(file).trim();
    } catch {
      errors.push(`${name}_FILE: must be the path of a readable file in UTF-8`);
    }
  }
  const { data, faults } = parseSettings(variables);
  errors.push(...faults);
  if (!data || errors.length > 0) throw new ConfigError(errors.join('\n'));
  return {
    port: data.PORT,
    /** Undefined means all interfaces. */
    host: data.HOST,
    /** Undefined means the embedded PostgreSQL. */
    databaseUrl: data.DATABASE_URL,
    migrationDatabaseUrl: data.MIGRATION_DATABASE_URL,
    /** The transport for messages in addition to HTTP; undefined means none. */
    messagesUrl: data.MESSAGES_URL,
    /** The reply addresses that are allowed in addition to those of the broker's clients. */
    messagesReplyQueues: data.MESSAGES_REPLY_QUEUES,
    /** The broker or webhook to which events are published; undefined means none. */
    eventsUrl: data.EVENTS_URL,
    /** One or two secrets that sign the requests to the webhook. */
    eventsSecret: data.EVENTS_SECRET,
    /** The absolute path of the JSON Schema of attributes; undefined: logs have none. */
    attributesSchema: data.ATTRIBUTES_SCHEMA && resolve(data.ATTRIBUTES_SCHEMA),
    /** The absolute path of the folder with the embedded PostgreSQL and the first token. */
    dataDir: resolve(data.DATA_DIR),
    logLevel: data.LOG_LEVEL,
    /** Whether log lines are JSON. Otherwise they are readable text for a terminal. */
    logAsJson: data.NODE_ENV === 'production' || !isTerminal,
    /** Whether an operator reads the log, and not the person who has just typed `npm start`. */
    isProduction: data.NODE_ENV === 'production',
    declaredTokens: data.ACCESS_TOKEN ?? [],
    /** Whether access tokens are accepted, including the declared ones. */
    acceptsAccessTokens: data.AUTH_ACCESS_TOKENS === 'on',
    /** The keys and the required claims of accepted JWTs; undefined means that none are. */
    jwt: jwtConfigOf(data),
    /** The origins whose pages may call the service from a browser; `*` alone means all. */
    corsOrigins: data.CORS_ORIGINS,
    /** The request headers that these pages may send in addition to those that the service reads. */
    corsHeaders: data.CORS_HEADERS,
    /** The number of requests that each token may send to this process; undefined means no limit. */
    rateLimit: data.RATE_LIMIT,
    /** In seconds. */
    shutdownDelay: data.SHUTDOWN_DELAY,
    /** Whether `/openapi.json` and `/docs` are served. */
    apiDocs: data.API_DOCS === 'on',
    /** Limits for requests, waiting times and memory. Times are in milliseconds unless stated otherwise. */
    limits: {
      headersTimeout: data.HEADERS_TIMEOUT * 1_000,
      requestTimeout: data.REQUEST_TIMEOUT * 1_000,
      keepAliveTimeout: data.KEEP_ALIVE_TIMEOUT * 1_000,
      unreadTimeout: UNREAD_TIMEOUT_MS,
      /** The maximum size of the request line and headers, in bytes. */
      headersLimit: data.HEADERS_LIMIT,
      bodyLimit: data.BODY_LIMIT,
      batchLimit: data.BATCH_LIMIT,
      deadline: data.DEADLINE * 1_000,
      /** The maximum number of connections to the database. */
      poolSize: data.POOL_SIZE,
      writeQueue: data.WRITE_QUEUE,
      /** In hours. */
      keyLifetime: data.KEY_LIFETIME,
      /** The maximum number of verified tokens in memory. */
      tokenCache: data.TOKEN_CACHE,
    },
  };
}

/** The keys and the expected claims of JWTs. */
export interface JwtConfig {
  readonly jwksUrl: string;
  readonly issuer: string;
  readonly audience: string;
  readonly audienceClaim?: string | undefined;
  readonly scopeClaims?: readonly string[] | undefined;
  readonly scopePrefix?: string | undefined;
  readonly projectsClaim?: string | undefined;
  readonly attributeClaims?: Readonly<Record<string, string>> | undefined;
}

function jwtConfigOf(data: Settings): JwtConfig | undefined {
  if (data.AUTH_JWKS_URL === undefined) return undefined;
  return {
    jwksUrl: data.AUTH_JWKS_URL,
    issuer: data.AUTH_ISSUER!,
    audience: data.AUTH_AUDIENCE!,
    audienceClaim: data.AUTH_AUDIENCE_CLAIM,
    scopeClaims: data.AUTH_SCOPE_CLAIMS,
    scopePrefix: data.AUTH_SCOPE_PREFIX,
    projectsClaim: data.AUTH_PROJECTS_CLAIM,
    attributeClaims: data.AUTH_ATTRIBUTES,
  };
}

/** Returns the variables that are not empty. Compose files set unused ones to an empty value. */
function withoutEmpty(env: NodeJS.ProcessEnv): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}
