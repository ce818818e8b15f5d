import { userInfo } from 'node:os';
import type { Invocation } from './program.js';

/** Under whose rights PostgreSQL runs: it refuses to run as root. */
export interface Account {
  readonly name: string;
  /** The program as this account starts it. */
  invoke(file: string, args: readonly string[], role: Role): Invocation;
  /** To whom the files must belong for a program in this role. */
  owner(role: Role): { readonly uid: number; readonly gid: number };
}

/** initdb makes the data directory, postgres serves it. */
type Role = 'initdb' | 'postgres';

// initdb insists on a user with a name; this number is "nobody" on every Linux distribution.
const NOBODY = 65534;
// postgres needs no name. A number which no distribution gives out, and which therefore nobody else on the machine
// has, unlike that of "nobody".
const NAMELESS = 61000;

const me = () => ({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
const other = (role: Role) =>
  role === 'initdb' ? { uid: NOBODY, gid: NOBODY } : { uid: NAMELESS, gid: NAMELESS };

/** The user who runs the service. */
export const sameUser: Account = {
  name: 'same user',
  invoke: (file, args) => ({ file, args }),
  owner: me,
};

/**
 * The same user, whom a user namespace shows to PostgreSQL as nobody. Nothing changes outside the namespace: files
 * keep their owner, and a home that only its owner can enter stays reachable.
 */
export const userNamespace: Account = {
  name: 'user namespace',
  invoke: (file, args) => ({
    file: 'unshare',
    args: ['--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, '--', file, ...args],
  }),
  owner: me,
};

/** Another user, who must be able to reach the binaries and the data. */
export const otherUser: Account = {
  name: 'other user',
  invoke: (file, args, role) => ({ file, args, ...other(role) }),
  owner: other,
};

/**
 * Another user, whom a capability of root lets into closed directories. The secure bit keeps the capability through
 * the change of user, and has access(2), with which PostgreSQL looks for its programs, heed it.
 */
export const otherUserWithCapability: Account = {
  name: 'other user with a capability',
  invoke: (file, args, role) => ({
    file: 'setpriv',
    args: [
      '--securebits=+no_setuid_fixup',
      `--reuid=${other(role).uid}`,
      `--regid=${other(role).gid}`,
      '--clear-groups',
      '--inh-caps=-all,+dac_override',
      '--ambient-caps=-all,+dac_override',
      '--',
      file,
      ...args,
    ],
  }),
  owner: other,
};

/** The accounts to try, the one that grants least first. */
export function accountsOfThisMachine(): readonly Account[] {
  if (process.getuid?.() === 0) return [userNamespace, otherUser, otherUserWithCapability];
  // A container may run under a bare number, for which initdb finds no name.
  return hasName() ? [sameUser] : [userNamespace, sameUser];
}

function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}
