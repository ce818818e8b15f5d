import type { Invocation } from './program.js';

/** A user and a group, by number. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The user as whom root runs a program. PostgreSQL refuses to run as root; others run it as themselves. */
export interface Account {
  readonly user: User;
  /** Whether it may enter and read folders that are closed to its user, such as the home of root. */
  readonly entersAllFolders?: boolean;
}

const userOf = (number: number): User => ({ uid: number, gid: number });
/** The user "nobody" of Linux. initdb needs a user with a name. */
const NOBODY = userOf(65534);
/** A user number that no distribution assigns. postgres needs no user name. */
const UNUSED = userOf(61000);

const isRoot = () => process.getuid?.() === 0;

/** Returns whether a user is neither root nor one that root selects for PostgreSQL. */
export function isOrdinary({ uid }: User): boolean {
  return ![0, NOBODY.uid, UNUSED.uid].includes(uid);
}

/**
 * Returns the accounts to try for a server, by the owner of its data, or of the folder for new data. Root leaves data
 * to an ordinary owner, who can later go on without root, and who never gets more rights.
 */
export function accountsFor(owner: User, hasData: boolean): readonly Account[] {
  if (!isRoot()) return [{ user: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 } }];
  const own = [{ user: UNUSED }, { user: UNUSED, entersAllFolders: true }];
  if (!isOrdinary(owner)) return own;
  return hasData ? [{ user: owner }] : [{ user: owner }, ...own];
}

/** Returns the account that creates the files of a server. */
export function creatorFor(account: Account): Account {
  return isRoot() ? { user: NOBODY, entersAllFolders: true } : account;
}

/** Returns the invocation that runs a program under an account. */
export function invoke(
  { user, entersAllFolders }: Account,
  file: string,
  args: readonly string[],
): Invocation {
  if (!isRoot()) return { file, args };
  if (!entersAllFolders) return { file, args, ...user };
  // Without the secure bit the kernel drops the capability when the user changes, and access(2), by which PostgreSQL
  // finds its programs, ignores it.
  const options = [
    '--securebits=+no_setuid_fixup',
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    '--inh-caps=-all,+dac_override',
    '--ambient-caps=-all,+dac_override',
  ];
  return { file: 'setpriv', args: [...options, '--', file, ...args] };
}
