import { spawnSync } from 'node:child_process';
import { describe } from '@jest/globals';

/** `describe` for tests that need programs: skipped with one line if one is not installed. */
export function describeWith(...programs: string[]): typeof describe | typeof describe.skip {
  const missing = programs.filter((program) => spawnSync('which', [program]).status !== 0);
  if (missing.length === 0) return describe;
  process.stderr.write(`skipped: not installed: ${missing.join(', ')}\n`);
  return describe.skip;
}
