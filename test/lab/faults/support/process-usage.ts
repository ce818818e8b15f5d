import { readdir, readFile } from 'node:fs/promises';

/** How many files and sockets a process has open; 0 where the system does not tell. */
export async function filesOf(pid: number): Promise<number> {
  if (process.platform !== 'linux') return 0;
  return (await readdir(`/proc/${pid}/fd`)).length;
}

/** Megabytes of memory that a process has resident at this moment; 0 where the system does not tell. */
export async function memoryOf(pid: number): Promise<number> {
  return (await statusOf(pid, 'VmRSS')) / 1_024;
}

/** The most megabytes that a process has had resident since its start; 0 where the system does not tell. */
export async function peakMemoryOf(pid: number): Promise<number> {
  return (await statusOf(pid, 'VmHWM')) / 1_024;
}

/** Kilobytes. */
async function statusOf(pid: number, name: string): Promise<number> {
  if (process.platform !== 'linux') return 0;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
}
