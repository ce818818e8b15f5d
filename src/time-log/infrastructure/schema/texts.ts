import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });

/** The SQL files in this folder, by path without `.sql`. The package for hosts has them in this file. */
export const TEXTS: Readonly<Record<string, string>> = Object.fromEntries(
  files
    .filter((file) => file.endsWith('.sql'))
    .map((file) => [
      file.slice(0, -4).replaceAll('\\', '/'),
      readFileSync(join(import.meta.dirname, file), 'utf8'),
    ]),
);
