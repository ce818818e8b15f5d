import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { findPostmaster, removeStaleLock, type Postmaster } from './postmaster.js';
import { stopOrphan } from './server.js';
import { answers, socketDirectoryOf } from './socket-directory.js';

const POLL_MS = 20;
// How long a start waits until a command releases the directory or a server ends.
const WAIT_TIMEOUT_MS = 10_000;

/** Waits until no server uses the data directory. Stops an orphan. Throws if a service uses it. */
export async function waitUntilFree(dataDirectory: string, signal?: AbortSignal): Promise<void> {
  const end = performance.now() + WAIT_TIMEOUT_MS;
  for (;;) {
    signal?.throwIfAborted();
    const found = await findPostmaster(dataDirectory);
    if (!found && !(await answers(socketDirectoryOf(dataDirectory)))) return removeStaleLock(dataDirectory);
    if (found && !found.owner) await stopOrphan(dataDirectory, found);
    else if (found ? !mayEndSoon(found) || performance.now() > end : Date.now() > end)
      throw inUse(dataDirectory, found);
    await delay(POLL_MS);
  }
}

/** Waits until a running server is ready. Returns its socket directory; undefined if none runs. */
export async function findReady(dataDirectory: string, signal?: AbortSignal): Promise<string | undefined> {
  const socketDirectory = socketDirectoryOf(dataDirectory);
  for (;;) {
    signal?.throwIfAborted();
    const found = await findPostmaster(dataDirectory);
    // A server in another container may use the same volume.
    if (!found) return (await answers(socketDirectory)) ? socketDirectory : undefined;
    if (found.status === 'stopping') return undefined;
    if (found.status === 'ready') return found.socketDirectory;
    await delay(POLL_MS);
  }
}

function mayEndSoon({ status, owner }: Postmaster): boolean {
  return status === 'stopping' || owner?.purpose === 'command';
}

function inUse(dataDirectory: string, found: Postmaster | undefined): EmbeddedPostgresError {
  // The server responds, but is not a process of this container.
  const user = found?.owner
    ? `another running ${describeOwner(found.owner)}`
    : 'a server in another container';
  return new EmbeddedPostgresError(
    `the data directory ${dataDirectory} is in use by ${user}: stop it, or set DATA_DIR to another directory`,
  );
}

function describeOwner({ pid, purpose }: NonNullable<Postmaster['owner']>): string {
  return `${purpose === 'unknown' ? 'PostgreSQL server' : purpose} (process ${pid})`;
}
