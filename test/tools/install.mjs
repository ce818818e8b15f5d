import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

/* Installs what lints, packs and tests in browsers, where it is missing or older than its lockfile. */

const changed = (file) => statSync(join(import.meta.dirname, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (changed('node_modules/.package-lock.json') <= changed('package-lock.json')) {
  const { status } = spawnSync('npm', ['ci', '--prefix', import.meta.dirname], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
