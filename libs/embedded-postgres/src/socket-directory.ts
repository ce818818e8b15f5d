import { hash } from 'node:crypto';
import { chown, lstat, mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { User } from './account.js';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';

const SOCKET_NAME = '.s.PGSQL.5432';
// sun_path has 108 bytes on Linux and 104 on macOS, including a zero at its end.
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/**
 * Returns the directory of the server's socket: the data directory, which only its owner can enter,
 * or a temporary directory if the path of the socket would be too long for the system.
 */
export function socketDirectoryOf(dataDirectory: string): string {
  if (fits(dataDirectory)) return dataDirectory;
  const directory = join(tmpdir(), `postgres-${hash('sha256', dataDirectory).slice(0, 16)}`);
  if (fits(directory)) return directory;
  throw new EmbeddedPostgresError(
    `the path ${dataDirectory} is too long for a socket: set DATA_DIR to a shorter one, or TMPDIR to /tmp`,
  );
}

/** Creates the directory if it is not the data directory. Throws if others can enter it. */
export async function openSocketDirectory(dataDirectory: string, owner: User): Promise<string> {
  const directory = socketDirectoryOf(dataDirectory);
  if (directory === dataDirectory) return directory;
  const isNew = await mkdir(directory, { mode: 0o700 }).then(
    () => true,
    () => false,
  );
  if (isNew && process.getuid?.() !== owner.uid) await chown(directory, owner.uid, owner.gid);
  const found = await lstat(directory).catch(() => undefined);
  if (found?.isDirectory() && found.uid === owner.uid && (found.mode & 0o077) === 0) return directory;
  throw new EmbeddedPostgresError(
    `${directory}, the directory for PostgreSQL's socket, is not private to the service: remove it, or set DATA_DIR to a shorter path`,
  );
}

/** Returns whether a server responds on the socket of a data directory. */
export function answers(dataDirectory: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(join(socketDirectoryOf(dataDirectory), SOCKET_NAME));
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1000, () => end(true));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

/** Returns the URL of the server. The directory is its host, because TypeORM drops the query. */
export function urlOf(dataDirectory: string): string {
  return `postgres://postgres@${encodeURIComponent(socketDirectoryOf(dataDirectory))}/postgres`;
}

function fits(directory: string): boolean {
  return Buffer.byteLength(join(directory, SOCKET_NAME)) <= MAX_PATH_BYTES;
}
