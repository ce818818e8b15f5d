import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

/* Installs the tools that lint, pack and test in browsers, if they are missing or older than their lockfile. */

const changed = (file) => statSync(join(import.meta.dirname, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (changed('node_modules/.package-lock.json') <= changed('package-lock.json')) {
  const args = ['ci', '--prefix', import.meta.dirname, '--loglevel', 'error'];
  const { status } = spawnSync('npm', args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
