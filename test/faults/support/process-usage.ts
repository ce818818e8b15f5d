import { readdir, readFile } from 'node:fs/promises';

/** How many files and sockets a process has open; 0 where the system does not tell. */
export async function filesOf(pid: number): Promise<number> {
  if (process.platform !== 'linux') return 0;
  return (await readdir(`/proc/${pid}/fd`)).length;
}

/** Megabytes of memory that a process has resident at this moment; 0 where the system does not tell. */
export async function memoryOf(pid: number): Promise<number> {
  if (process.platform !== 'linux') return 0;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024);
}
