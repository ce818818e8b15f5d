import { chown, readFile } from 'node:fs/promises';
import { type Printing, spawnProgram } from '../../support/service-process.js';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The account that Debian's packages of PostgreSQL make, for servers that refuse root. */
export async function postgresAccount(): Promise<Owner> {
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+)/m.exec(await readFile('/etc/passwd', 'utf8'))!;
  return { uid: Number(uid), gid: Number(gid) };
}

const isRoot = process.getuid?.() === 0;

/** Hands a folder over to the account as which a server will run. */
export async function give(folder: string, { uid, gid }: Owner): Promise<void> {
  if (isRoot) await chown(folder, uid, gid);
}

/**
 * Starts a program in the foreground; where we are root, as the user who is named: some servers refuse root. That user
 * may not enter the folder of the project, so it starts in one that everybody can.
 */
export function startDaemon(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
  owner?: Owner,
): Printing {
  const { PATH = '' } = process.env;
  const as =
    owner && isRoot ? ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'] : [];
  const daemon = spawnProgram(['env', '--chdir=/', ...as, ...command], { PATH, ...env });
  // PostgreSQL's processes read what they inherit here before they end with a killed server.
  daemon.child.stdin!.end();
  return daemon;
}
