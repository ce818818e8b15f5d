import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { readTextFile } from '../../libs/strict-url/src/text-file.js';
import { GONE_SETTINGS, parseSettings, PROJECT, SECRETS } from './settings.js';

/** Invalid settings. The message has a line for each one, with its name and the valid values. */
export class ConfigError extends Error {}

/** An optional file with settings, for example on a developer's machine. */
const DOT_ENV = join(PROJECT, '.env');

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
  try {
    const config = loadConfig(process.env, process.stdout.isTTY);
    if (hasDotEnv) report(`settings that the environment does not set are read from ${DOT_ENV}`, 'log');
    const gone = GONE_SETTINGS.filter((name) => process.env[name]);
    if (gone.length > 0) report(`gone since 0.4, and without effect: ${gone.join(', ')}`, 'warn');
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const origin = hasDotEnv ? [`The settings come from the environment and from ${DOT_ENV}`] : [];
    throw new ConfigError([error.message, ...origin].join('\n'));
  }
}

/** Adds the project's `.env` to the environment. Returns false if it does not exist. */
function readDotEnv(): boolean {
  try {
    // process.loadEnvFile would read a byte order mark as a part of the first name.
    const settings = parseEnv(readTextFile(DOT_ENV));
    for (const name in settings) process.env[name] ??= settings[name];
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw new ConfigError(`${DOT_ENV}: must be a readable file in UTF-8`);
  }
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
      variables[name] = readTextFile(file).trim();
    } catch {
      errors.push(`${name}_FILE: must be the path of a readable file in UTF-8`);
    }
  }
  const settings = parseSettings(variables, errors);
  if (errors.length > 0) throw new ConfigError(errors.join('\n'));
  return {
    ...settings,
    /** Whether log lines are JSON. Otherwise they are readable text for a terminal. */
    logAsJson: settings.isProduction || !isTerminal,
  };
}

/** Returns the variables that are not empty. Compose files set unused ones to an empty value. */
function withoutEmpty(env: NodeJS.ProcessEnv): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}
