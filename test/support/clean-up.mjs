import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/*
 * `node clean-up.mjs DIRECTORY` waits until its standard input ends, which also happens when the test run is killed.
 * Then it ends every process that has the directory in its arguments or environment, and removes the directory.
 */

const directory = process.argv[2];
/** Milliseconds that processes have to end by themselves. PostgreSQL needs that to give its shared memory back. */
const GRACE_MS = 5_000;

process.stdin.resume();
await once(process.stdin, 'end');

const isOver = Date.now() + GRACE_MS;
for (let signal = 'SIGINT'; ; signal = Date.now() < isOver ? 0 : 'SIGKILL') {
  const pids = processesOfRun();
  for (const pid of pids) send(signal, pid);
  if (pids.length === 0) break;
  await delay(20);
}
rmSync(directory, { recursive: true, force: true, maxRetries: 5 });

function processesOfRun() {
  // macOS, which shows the arguments alone.
  if (!existsSync('/proc/self/cmdline')) {
    const { stdout } = spawnSync('pgrep', ['-f', directory], { encoding: 'utf8' });
    return stdout
      .split('\n')
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid);
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => ['cmdline', 'environ'].some((file) => read(`/proc/${pid}/${file}`).includes(directory)));
}

function read(file) {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    // The process has ended, or belongs to somebody else.
    return '';
  }
}

function send(signal, pid) {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
