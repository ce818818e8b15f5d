import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What a server was started for: a service, or a command, which soon ends. */
export type Purpose = 'service' | 'command';

/** The live server of a data directory. Its lock file and the table of processes tell about it. */
export interface Postmaster {
  readonly pid: number;
  readonly socketDirectory: string;
  readonly status: string;
  /** The process that started the server. Undefined: it has ended, and the server is an orphan. */
  readonly owner: { readonly pid: number; readonly purpose: Purpose | 'unknown' } | undefined;
}

/** A name for the server's command line. It tells later starts who started the server. */
export function clusterName(purpose: Purpose): string {
  return `${purpose}-${process.pid}`;
}

/** Finds the live server of a data directory. Ignores the lock file that a dead server has left behind. */
export async function findPostmaster(dataDirectory: string): Promise<Postmaster | undefined> {
  const lock = await readLock(dataDirectory);
  if (!lock) return undefined;
  const found = await describeProcess(lock.pid);
  if (!found || !`${found.command} `.includes(` -D ${dataDirectory} `)) return undefined;
  const [, purpose, owner] = / cluster_name=(service|command)-(\d+)( |$)/.exec(found.command) ?? [];
  const { pid, socketDirectory, status } = lock;
  if (!owner) return { pid, socketDirectory, status, owner: { pid, purpose: 'unknown' } };
  // A process whose parent has ended gets another parent. This finds an orphan even if another process now has the
  // number of the ended service.
  const alive = found.parent === Number(owner);
  return {
    pid,
    socketDirectory,
    status,
    owner: alive ? { pid: Number(owner), purpose: purpose as Purpose } : undefined,
  };
}

/** Whether the server with this process number accepts connections. */
export async function isReady(dataDirectory: string, pid: number): Promise<boolean> {
  const lock = await readLock(dataDirectory);
  return lock?.pid === pid && lock.status === 'ready';
}

async function readLock(dataDirectory: string) {
  const text = await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8').catch(() => '');
  // The file's format is that of PostgreSQL's src/include/utils/pidfile.h.
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 1) return undefined;
  return { text, pid, socketDirectory: lines[4] ?? '', status: lines[7] ?? '' };
}

/**
 * Removes the lock file of a dead server. PostgreSQL refuses to start while any process has the number in that file,
 * and after a container restarts one often has. A new server that gets the old number would also look ready too early.
 * Another start may write its own lock file meanwhile; then PostgreSQL's second lock, on shared memory, protects the
 * data.
 */
export async function removeStaleLock(dataDirectory: string): Promise<void> {
  const before = await readLock(dataDirectory);
  if (!before || (await findPostmaster(dataDirectory))) return;
  const after = await readLock(dataDirectory);
  if (after?.text === before.text) await rm(join(dataDirectory, 'postmaster.pid'), { force: true });
}

async function describeProcess(pid: number): Promise<{ parent: number; command: string } | undefined> {
  try {
    if (process.platform === 'linux') return await describeFromProc(pid);
    const { stdout } = await promisify(execFile)('/bin/ps', [
      '-ww',
      '-o',
      'ppid=,stat=,args=',
      '-p',
      String(pid),
    ]);
    const [, parent, state, command] = /^\s*(\d+)\s+(\S+)\s+(.*)$/m.exec(stdout) ?? [];
    return command === undefined || state?.startsWith('Z') ? undefined : { parent: Number(parent), command };
  } catch {
    return undefined;
  }
}

async function describeFromProc(pid: number): Promise<{ parent: number; command: string } | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name of the program stands in brackets and may contain spaces and brackets itself.
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie has ended. In a container there may be no process that collects it.
  if (state === 'Z' || state === 'X') return undefined;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
  return { parent: Number(parent), command: command.replaceAll('\0', ' ').trimEnd() };
}
