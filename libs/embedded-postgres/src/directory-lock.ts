import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';

/** The purpose of a server: a service, or a command, which ends soon. */
export type Purpose = 'service' | 'command';

/** The time in which the process that has the lock says who it is. */
const TIMEOUT_MS = 2_000;
const SILENT = 'process that does not answer';

/**
 * Takes a lock that ends with this process: a socket on which it listens. Returns undefined if another process has it.
 * If two starts replace the socket of a killed process at the same instant, PostgreSQL's own lock protects the data.
 */
export async function takeLock(path: string, purpose: Purpose): Promise<Server | undefined> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(`${purpose} (process ${process.pid})`);
  });
  const listen = async () => once(server.listen(path), 'listening');
  try {
    await listen();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    if (await holderOf(path)) return undefined;
    await rm(path, { force: true });
    await listen();
  }
  // Commands of other users, such as root, may ask too.
  await chmod(path, 0o666);
  return server.unref();
}

/**
 * Returns which process has the lock, such as "service (process 17)"; "process that does not answer" also while it
 * releases the lock; undefined if none has it.
 */
export async function holderOf(path: string): Promise<string | undefined> {
  const socket = connect(path);
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
  try {
    return (await text(socket)) || SILENT;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ECONNREFUSED' || code === 'ENOENT' ? undefined : SILENT;
  }
}
