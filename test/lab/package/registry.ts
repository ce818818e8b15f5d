import { describe } from '@jest/globals';
import { run } from './run.js';

/**
 * `describe` for what is installed from the npm registry. Where that is out of reach, it says so and skips; where
 * REQUIRE_REGISTRY is set, it throws.
 */
export async function describeInstalled(what: string): Promise<typeof describe.skip> {
  if (await isReachable()) return describe;
  if (process.env.REQUIRE_REGISTRY === '1') throw new Error('the npm registry is out of reach');
  process.stderr.write(`skipped: ${what}; the npm registry is out of reach\n`);
  return describe.skip;
}

async function isReachable(): Promise<boolean> {
  const limits = ['--prefer-online', '--fetch-retries=0', '--fetch-timeout=5000'];
  return run('npm', ['view', '@nestjs/core@11.0.0', 'version', ...limits]).then(
    () => true,
    () => false,
  );
}
