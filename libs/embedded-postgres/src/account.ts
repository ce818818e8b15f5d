import { spawnSync } from 'node:child_process';
import { userInfo } from 'node:os';
import type { Invocation } from './program.js';

/** A user, by number. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The rights under which PostgreSQL runs: it refuses to run as root. */
export interface Account {
  readonly name: string;
  /** How a program is started under this account. */
  invoke(file: string, args: readonly string[], role: Role): Invocation;
  /** The user to whom the files of a program in this role must belong. */
  owner(role: Role): User;
}

/** initdb makes the data directory, postgres serves it. */
type Role = 'initdb' | 'postgres';

/** One way to start a program. */
interface Way {
  invoke(file: string, args: readonly string[]): Invocation;
  readonly owner: User;
}

/** "nobody" on every Linux distribution. initdb wants a user with a name. */
const NOBODY: User = { uid: 65534, gid: 65534 };
/** A number that no distribution gives out, so that nobody else on the machine has it. postgres needs no name. */
const UNUSED: User = { uid: 61000, gid: 61000 };
const currentUser: User = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

/** The user who runs the service. */
export const sameUser = accountOf('same user', {
  invoke: (file, args) => ({ file, args }),
  owner: currentUser,
});

/**
 * The same user, whom a user namespace shows to PostgreSQL as nobody. Nothing changes outside the namespace: files
 * keep their owner, and a home that only its owner can enter stays reachable.
 */
export const userNamespace = accountOf('user namespace', {
  invoke: (file, args) => ({
    file: 'unshare',
    args: ['--user', `--map-user=${NOBODY.uid}`, `--map-group=${NOBODY.gid}`, '--', file, ...args],
  }),
  owner: currentUser,
});

/** Another user, who must be able to reach the binaries and the data. */
export const otherUser = accountOf('other user', as(UNUSED), as(NOBODY));

/** Another user, who gets into directories that are closed to others. */
export const otherUserWithCapability = accountOf(
  'other user with a capability',
  withCapability(UNUSED),
  withCapability(NOBODY),
);

/** What root needs to know of the data directory. */
export interface Place {
  /** The ordinary user to whom it belongs, or its folder while there is no such directory. */
  readonly owner: User | undefined;
  readonly hasData: boolean;
}

/** The accounts to try, the one that grants least first. */
export function accountsOfThisMachine({ owner, hasData }: Place): readonly Account[] {
  // A container may run under a bare number, for which initdb finds no name.
  if (currentUser.uid !== 0) return currentUserHasName() ? [sameUser] : [userNamespace, sameUser];
  const ofRoot = [userNamespace, otherUser, otherUserWithCapability];
  if (!owner) return ofRoot;
  // Data keep their owner. A user who cannot reach the folder or the binaries could do nothing with new data anyway.
  return hasData ? accountsOf(owner) : [...accountsOf(owner), ...ofRoot];
}

/** Whether this is the number of a person or a service, and not one that PostgreSQL itself gets here. */
export function isOrdinary({ uid }: User): boolean {
  return ![0, NOBODY.uid, UNUSED.uid].includes(uid);
}

/** Whether a start as root may have left files of this user behind in somebody's folder, as earlier versions did. */
export function isLeftByRoot({ uid }: User): boolean {
  return [0, UNUSED.uid].includes(uid);
}

/**
 * The accounts for root in the folder of an ordinary user: the server runs as that user, who can go on without root.
 * It never gets the capability: the user can have the server read any file that the server may read.
 */
function accountsOf(user: User): readonly Account[] {
  const name = 'owner of the folder';
  if (hasName(user)) return [accountOf(name, as(user))];
  return [accountOf(name, as(user), as(NOBODY)), accountOf(name, as(user), withCapability(NOBODY))];
}

function accountOf(name: string, postgres: Way, initdb = postgres): Account {
  const ways = { initdb, postgres };
  return {
    name,
    invoke: (file, args, role) => ways[role].invoke(file, args),
    owner: (role) => ways[role].owner,
  };
}

function as(owner: User): Way {
  return { invoke: (file, args) => ({ file, args, ...owner }), owner };
}

/**
 * A user whom a capability of root lets into closed directories. The secure bit keeps the capability when the user
 * changes, and makes access(2), with which PostgreSQL looks for its programs, respect it.
 */
function withCapability(owner: User): Way {
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
