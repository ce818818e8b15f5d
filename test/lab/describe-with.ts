import { describe } from '@jest/globals';
import { isInstalled } from './installed.js';

/** `describe` for tests that need programs: skipped with one line if one is not installed. */
export function describeWith(...programs: string[]): typeof describe | typeof describe.skip {
  const missing = programs.filter((program) => !isInstalled(program));
  if (missing.length === 0) return describe;
  process.stderr.write(`skipped: not installed: ${missing.join(', ')}\n`);
  return describe.skip;
}
