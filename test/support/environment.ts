import { SETTINGS } from '../../src/config.js';

/**
 * The environment of a process of the service: what is given, and what it takes to find programs. All other settings
 * are set to nothing, which counts as absent: so a `.env` of the project, such as with the URL of a real database,
 * never reaches a test.
 */
export function environment(given: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = '', TZ, NODE_COMPILE_CACHE } = process.env;
  const absent = Object.fromEntries(SETTINGS.map((name) => [name, '']));
  return { ...absent, PATH, ...(TZ && { TZ }), ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...given };
}
