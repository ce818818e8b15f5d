import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const PROJECT = join(import.meta.dirname, '..', '..', '..');

describe('the types of the client', () => {
  it('are those that `npm run openapi` makes from the OpenAPI document', async () => {
    const { scripts } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const [program, document, ...options] = scripts.openapi!.split(' && ').at(-1)!.split(' ');
    const output = options.indexOf('--output');
    const [, file] = options.splice(output, 2);
    // Without --output it prints what it makes.
    const bin = join(PROJECT, program!);
    const { stdout } = await promisify(execFile)(process.execPath, [bin, document!, ...options], {
      cwd: PROJECT,
    });
    expect(await readFile(join(PROJECT, file!), 'utf8')).toBe(stdout);
  });
});
