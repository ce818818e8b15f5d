import { readdir, readFile } from 'node:fs/promises';

/** Returns the number of open files and sockets of a process; 0 if the system does not report it. */
export async function filesOf(pid: number): Promise<number> {
  if (process.platform !== 'linux') return 0;
  return (await readdir(`/proc/${pid}/fd`)).length;
}

/** Returns the resident memory of a process in megabytes; 0 if the system does not report it. */
export async function memoryOf(pid: number): Promise<number> {
  if (process.platform !== 'linux') return 0;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
}
