import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The purpose of a server: a service, or a command, which ends soon. */
export type Purpose = 'service' | 'command';

/** The running server of a data directory, from its lock file and the process table. */
export interface Postmaster {
  readonly pid: number;
  readonly socketDirectory: string;
  readonly status: string;
  /** The process that started the server; undefined if that has ended (the server is an orphan). */
  readonly owner: { readonly pid: number; readonly purpose: Purpose | 'unknown' } | undefined;
}

/** Returns the cluster name, by which later starts find the process that started the server. */
export function clusterName(purpose: Purpose): string {
  return `${purpose}-${process.pid}`;
}

/** Finds the running server of a data directory. Ignores the lock file of a dead server. */
export async function findPostmaster(dataDirectory: string): Promise<Postmaster | undefined> {
  const lock = await readLock(dataDirectory);
  if (!lock) return undefined;
  const found = await describeProcess(lock.pid);
  if (!found || !`${found.command} `.includes(` -D ${dataDirectory} `)) return undefined;
  const [, purpose, owner] = / cluster_name=(service|command)-(\d+)( |$)/.exec(found.command) ?? [];
  const { pid, socketDirectory, status } = lock;
  if (!owner) return { pid, socketDirectory, status, owner: { pid, purpose: 'unknown' } };
  // A process whose parent has ended gets another parent. So an orphan is found even if another
  // process has the number of its former parent.
  const isOwnerAlive = found.parent === Number(owner);
  return {
    pid,
    socketDirectory,
    status,
    owner: isOwnerAlive ? { pid: Number(owner), purpose: purpose as Purpose } : undefined,
  };
}

/** Returns whether the server with this process number accepts connections. */
export async function isReady(dataDirectory: string, pid: number): Promise<boolean> {
  const lock = await readLock(dataDirectory);
  return lock?.pid === pid && lock.status === 'ready';
}

async function readLock(dataDirectory: string) {
  const text = await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8').catch(() => '');
  // PostgreSQL's src/include/utils/pidfile.h defines the format.
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 1) return undefined;
  return { text, pid, socketDirectory: lines[4] ?? '', status: lines[7] ?? '' };
}

/**
 * Removes the lock file of a dead server. PostgreSQL refuses to start while any process has the
 * number in that file, which is common after a container restart. A new server with the old number
 * would also seem ready too early. If another start writes its own lock file meanwhile,
 * PostgreSQL's second lock, on shared memory, protects the data.
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
  // The program name is in parentheses, and may contain spaces and parentheses.
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie has ended. A container may have no process that reaps it.
  if (state === 'Z' || state === 'X') return undefined;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
  return { parent: Number(parent), command: command.replaceAll('\0', ' ').trimEnd() };
}
