import { readdir, readFile } from 'node:fs/promises';

/** The resources that a process has used since its start. */
export interface Usage {
  /** Microseconds, of all threads. */
  readonly cpu: number;
  /** Bytes of memory at its highest. */
  readonly memory: number;
}

// USER_HZ, which is 100 on every architecture that Node runs on.
const MICROSECONDS_PER_TICK = 10_000;

/** Undefined if the system does not tell, as all but Linux. */
export async function measureProcess(pid: number): Promise<Usage | undefined> {
  try {
    const { own } = await statOf(pid);
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return { cpu: own, memory: Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024 };
  } catch {
    return undefined;
  }
}

/**
 * Microseconds of CPU of the server that a backend belongs to, with what has ended since; undefined where it is not
 * to be seen.
 */
export async function measureServer(backend: number): Promise<number | undefined> {
  try {
    const { parent, name } = await statOf(backend);
    const postmaster = await statOf(parent);
    // Elsewhere the number may be that of a stranger.
    if (name !== 'postgres' || postmaster.name !== 'postgres') return undefined;
    const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
    const stats = await Promise.all(pids.map((pid) => statOf(pid).catch(() => undefined)));
    const children = stats.filter((stat) => stat?.parent === parent);
    return children.reduce((sum, child) => sum + child!.own, postmaster.own + postmaster.ofEnded);
  } catch {
    return undefined;
  }
}

/** The fields of proc(5) that are wanted here; microseconds. */
async function statOf(pid: number) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name stands in brackets and may contain spaces and brackets itself.
  const close = stat.lastIndexOf(')');
  const fields = stat.slice(close + 2).split(' ');
  const ticks = (first: number) =>
    (Number(fields[first]) + Number(fields[first + 1])) * MICROSECONDS_PER_TICK;
  return {
    name: stat.slice(stat.indexOf('(') + 1, close),
    parent: Number(fields[1]),
    own: ticks(11),
    ofEnded: ticks(13),
  };
}
