import { readdir, readFile, writeFile } from 'node:fs/promises';

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

/** Microseconds of CPU of the server that a backend belongs to, with what has ended since. */
export async function measureServer(backend: number): Promise<number> {
  const { parent } = await statOf(backend);
  const postmaster = await statOf(parent);
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const stats = await Promise.all(pids.map((pid) => statOf(pid).catch(() => undefined)));
  const children = stats.filter((stat) => stat?.parent === parent);
  return children.reduce((sum, child) => sum + child!.own, postmaster.own + postmaster.ofEnded);
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
