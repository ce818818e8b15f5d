import { describe } from '@jest/globals';
import { isInstalled } from './installed.js';

/** `describe` for tests that need a program: skipped with one line where it is missing, unless REQUIRE_BROKERS is 1. */
export function describeWith(program: string): typeof describe | typeof describe.skip {
  if (isInstalled(program) || process.env.REQUIRE_BROKERS === '1') return describe;
  process.stderr.write(`skipped: what needs a broker; ${program} is not installed\n`);
  return describe.skip;
}
