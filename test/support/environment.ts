/** A token that a deployment may declare. */
export const DECLARED_TOKEN = 'a-token-that-the-deployment-declares';

/** Runs before a program: to it, the project has no `.env`. That may hold the URL of a real database. */
const WITHOUT_DOT_ENV = `--import=data:text/javascript,${encodeURIComponent(
  `import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const read = fs.readFileSync;
  fs.readFileSync = (path, ...options) => read(String(path).endsWith('/.env') ? '' : path, ...options);
  syncBuiltinESMExports();`,
)}`;

/** The environment of a process of the service: what is given, and what it takes to find programs. */
export function environment(given: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = '', TZ, NODE_COMPILE_CACHE } = process.env;
  return {
    PATH,
    ...(TZ && { TZ }),
    ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
    ...given,
    NODE_OPTIONS: `${WITHOUT_DOT_ENV} ${given.NODE_OPTIONS ?? ''}`.trimEnd(),
  };
}
