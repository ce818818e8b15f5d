import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });

/** The SQL in this folder, by the path of its file without `.sql`. The package for hosts has it in this module. */
export const TEXTS: Readonly<Record<string, string>> = Object.fromEntries(
  files
    .filter((file) => file.endsWith('.sql'))
    .map((file) => [
      file.slice(0, -4).replaceAll('\\', '/'),
      readFileSync(join(import.meta.dirname, file), 'utf8'),
    ]),
);
