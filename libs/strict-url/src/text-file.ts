import { readFileSync } from 'node:fs';

/**
 * Returns the text of a file that people edit, without the byte order mark of some editors. Throws an Error if it
 * cannot be read, or is not UTF-8.
 */
export function readTextFile(path: string): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
}
