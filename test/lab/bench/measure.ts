import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { eventually } from '../../support/eventually.js';
import type { PostgresCluster } from '../../support/postgres-cluster.js';

/** The resources of a process. */
export interface Usage {
  /** Microseconds of CPU since its start, of all threads. */
  readonly cpu: number;
  /** Bytes of memory: now, and at most since the last call of `forgetPeak`. */
  readonly memory: number;
  readonly peak: number;
}

// USER_HZ, which is 100 on every architecture that Node runs on.
const MICROSECONDS_PER_TICK = 10_000;

/** Reads what Linux tells of a process. */
export async function measureProcess(pid: number): Promise<Usage> {
  const { own } = await statOf(pid);
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1_024;
  return { cpu: own, memory: bytes('VmRSS'), peak: bytes('VmHWM') };
}

/** Begins to note the highest memory of a process again. */
export async function forgetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5');
}

/** Microseconds of CPU that all processes of a server have spent, with those that have ended. */
export async function measureServer({ socket }: PostgresCluster): Promise<number> {
  const parent = parseInt(await readFile(join(dirname(socket), 'postmaster.pid'), 'utf8'));
  const postmaster = await statOf(parent);
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const stats = await Promise.all(pids.map((pid) => statOf(pid).catch(() => undefined)));
  const children = stats.filter((stat) => stat?.parent === parent);
  return children.reduce((sum, child) => sum + child!.own, postmaster.own + postmaster.ofEnded);
}

/** Waits until nothing is left of the round before; what nobody waits for any longer is cancelled. */
export async function calm(server: PostgresCluster, isAbandoned: boolean): Promise<void> {
  await eventually(async () => {
    const busy = await server.query(
      `select ${isAbandoned ? 'pg_cancel_backend(pid)' : ''} from pg_stat_activity
        where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()`,
    );
    if (busy.length > 0) throw new Error('PostgreSQL does not come to rest after a round');
  });
}

/** The fields of proc(5) that are wanted here; microseconds. */
async function statOf(pid: number) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name stands in brackets and may contain spaces and brackets itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = (first: number) =>
    (Number(fields[first]) + Number(fields[first + 1])) * MICROSECONDS_PER_TICK;
  return { parent: Number(fields[1]), own: ticks(11), ofEnded: ticks(13) };
}
