import { describe } from '@jest/globals';
import { run } from './run.js';

/** `describe` for what is installed from the npm registry: skipped with one line if the registry is out of reach. */
export async function describeInstalled(what: string): Promise<typeof describe.skip> {
  if (await isReachable()) return describe;
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
