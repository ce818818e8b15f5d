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
  /** The user who must own the files that a program in this role works on. */
  owner(role: Role): User;
}

/** initdb makes the data directory, postgres serves it. */
type Role = 'initdb' | 'postgres';

/** One way to start a program. */
interface Way {
  invoke(file: string, args: readonly string[]): Invocation;
  readonly owner: User;
}

/** The user "nobody" of every Linux distribution: initdb refuses a user without a name. */
const NOBODY: User = { uid: 65534, gid: 65534 };
/** A user whom nobody else on the machine is: no distribution gives out this number. postgres needs no name. */
const UNUSED: User = { uid: 61000, gid: 61000 };
const currentUser: User = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

/** The user who runs the service. */
export const sameUser = accountOf('same user', {
  invoke: (file, args) => ({ file, args }),
  owner: currentUser,
});

/**
 * The same user, in a user namespace in which PostgreSQL sees them as "nobody". Outside it nothing changes: files keep
 * their owner, and PostgreSQL can still enter a home that is closed to others.
 */
export const userNamespace = accountOf('user namespace', {
  invoke: (file, args) => ({
    file: 'unshare',
    args: ['--user', `--map-user=${NOBODY.uid}`, `--map-group=${NOBODY.gid}`, '--', file, ...args],
  }),
  owner: currentUser,
});

/** Another user, without more rights: the folders of the binaries and of the data must be open to them. */
export const otherUser = accountOf('other user', as(UNUSED), as(NOBODY));

/** Another user, with a capability that opens folders which are closed to them. */
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

/** The accounts to try in turn. The one with the fewest rights comes first. */
export function accountsOfThisMachine({ owner, hasData }: Place): readonly Account[] {
  // In a container the user may have no name.
  if (currentUser.uid !== 0) return currentUserHasName() ? [sameUser] : [userNamespace, sameUser];
  const ofRoot = [userNamespace, otherUser, otherUserWithCapability];
  if (!owner) return ofRoot;
  // Data keep their owner. New data may belong to root: the folder's user cannot run PostgreSQL here anyway.
  return hasData ? accountsOf(owner) : [...accountsOf(owner), ...ofRoot];
}

/** Whether this is an ordinary user: neither root nor one that PostgreSQL gets here. */
export function isOrdinary({ uid }: User): boolean {
  return ![0, NOBODY.uid, UNUSED.uid].includes(uid);
}

/** Whether a start as root may have left files of this user in another user's folder. Version 0.1 did. */
export function isLeftByRoot({ uid }: User): boolean {
  return [0, UNUSED.uid].includes(uid);
}

/**
 * The accounts for root in the folder of an ordinary user. The server runs as that user, who can later use it without
 * root. The server never gets the capability: its user could then read every file of the machine through it.
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
 * A user with a capability of root that opens closed folders. It needs the secure bit: else the kernel takes the
 * capability away when the user changes, and access(2), by which PostgreSQL finds its programs, ignores it.
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
