import { spawnSync } from 'node:child_process';
import { userInfo } from 'node:os';
import type { Invocation } from './program.js';

/** A user and a group, by number. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The user and rights with which PostgreSQL runs. It refuses to run as root. */
export interface Account {
  readonly name: string;
  /** Returns the invocation that runs a program under this account. */
  invoke(file: string, args: readonly string[], role: Role): Invocation;
  /** Returns the user who must own the files of a program in this role. */
  owner(role: Role): User;
}

/** The program: initdb creates the data directory, postgres serves it. */
type Role = 'initdb' | 'postgres';

/** A method to start a program. */
interface LaunchMethod {
  invoke(file: string, args: readonly string[]): Invocation;
  readonly owner: User;
}

/** The user "nobody" of Linux. initdb needs a user with a name. */
const NOBODY: User = { uid: 65534, gid: 65534 };
/** A user number that no distribution assigns. postgres needs no user name. */
const UNUSED: User = { uid: 61000, gid: 61000 };
const currentUser: User = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

/** The user of the service. */
export const sameUser = accountOf('same user', {
  invoke: (file, args) => ({ file, args }),
  owner: currentUser,
});

/**
 * The same user in a user namespace, in which PostgreSQL is "nobody". Outside it nothing changes:
 * files keep their owner, and PostgreSQL can enter a home directory that is closed to others.
 */
export const userNamespace = accountOf('user namespace', {
  invoke: (file, args) => ({
    file: 'unshare',
    args: ['--user', `--map-user=${NOBODY.uid}`, `--map-group=${NOBODY.gid}`, '--', file, ...args],
  }),
  owner: currentUser,
});

/** Another user without more rights, who must be able to enter the folders of binaries and data. */
export const otherUser = accountOf('other user', runAs(UNUSED), runAs(NOBODY));

/** Another user with a capability that opens folders that are closed to this user. */
export const otherUserWithCapability = accountOf(
  'other user with a capability',
  runWithCapability(UNUSED),
  runWithCapability(NOBODY),
);

/** The properties of the data directory that decide which accounts root tries. */
export interface DataDirectoryInfo {
  /** The ordinary user who owns it, or the folder above if it does not exist. */
  readonly owner: User | undefined;
  readonly hasData: boolean;
}

/** Returns the accounts to try, in order of their rights: fewest first. */
export function accountsOfThisMachine({ owner, hasData }: DataDirectoryInfo): readonly Account[] {
  // The user of a container may have no name.
  if (currentUser.uid !== 0) return currentUserHasName() ? [sameUser] : [userNamespace, sameUser];
  const rootAccounts = [userNamespace, otherUser, otherUserWithCapability];
  if (!owner) return rootAccounts;
  // Existing data keep their owner. New data may belong to root if the owner cannot run PostgreSQL.
  return hasData ? accountsFor(owner) : [...accountsFor(owner), ...rootAccounts];
}

/** Returns whether a user is neither root nor one that root selects for PostgreSQL. */
export function isOrdinary({ uid }: User): boolean {
  return ![0, NOBODY.uid, UNUSED.uid].includes(uid);
}

/**
 * Returns the accounts for root in the folder of an ordinary user. The server runs as that user,
 * who can later use it without root. It never has the capability, with which its user could read
 * every file of the machine.
 */
function accountsFor(user: User): readonly Account[] {
  const name = 'owner of the folder';
  if (hasName(user)) return [accountOf(name, runAs(user))];
  return [
    accountOf(name, runAs(user), runAs(NOBODY)),
    accountOf(name, runAs(user), runWithCapability(NOBODY)),
  ];
}

function accountOf(name: string, postgres: LaunchMethod, initdb = postgres): Account {
  const methods = { initdb, postgres };
  return {
    name,
    invoke: (file, args, role) => methods[role].invoke(file, args),
    owner: (role) => methods[role].owner,
  };
}

function runAs(owner: User): LaunchMethod {
  return { invoke: (file, args) => ({ file, args, ...owner }), owner };
}

/**
 * Runs a program as a user with the capability of root to enter closed folders. Without the secure
 * bit the kernel drops the capability when the user changes, and access(2), by which PostgreSQL
 * finds its programs, ignores it.
 */
function runWithCapability(owner: User): LaunchMethod {
  const options = [
    '--securebits=+no_setuid_fixup',
    `--reuid=${owner.uid}`,
    `--regid=${owner.gid}`,
    '--clear-groups',
    '--inh-caps=-all,+dac_override',
    '--ambient-caps=-all,+dac_override',
  ];
  return { invoke: (file, args) => ({ file: 'setpriv', args: [...options, '--', file, ...args] }), owner };
}

function currentUserHasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

function hasName({ uid }: User): boolean {
  return spawnSync('id', ['-un', String(uid)], { timeout: 2_000 }).status === 0;
}
