import { connect } from 'node:net';
import { join } from 'node:path';

const SOCKET_NAME = '.s.PGSQL.5432';
// sun_path has 108 bytes on Linux and 104 on macOS, including a zero at its end.
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** Returns whether the path of the socket in a data directory is short enough for the system. */
export function fitsSocket(dataDirectory: string): boolean {
  return Buffer.byteLength(join(dataDirectory, SOCKET_NAME)) <= MAX_PATH_BYTES;
}

/** Returns whether a server responds on the socket of a data directory. */
export function answers(dataDirectory: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(join(dataDirectory, SOCKET_NAME));
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
  return `postgres://postgres@${encodeURIComponent(dataDirectory)}/postgres`;
}
