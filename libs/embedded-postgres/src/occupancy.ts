import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { findPostmaster, removeStaleLock, type Postmaster } from './postmaster.js';
import { stopOrphan } from './server.js';
import { answers, socketDirectoryOf } from './socket-directory.js';

const POLL_MS = 20;
// How long a start waits for a command to release the directory, or for a server to end.
const PATIENCE_MS = 10_000;

/** Waits until no server uses the data directory. Ends an orphaned one; throws at once where a service uses it. */
export async function waitUntilFree(dataDirectory: string, signal?: AbortSignal): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
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

/** Waits until the live server accepts connections. Returns its socket's directory, or undefined without a server. */
export async function findReady(dataDirectory: string, signal?: AbortSignal): Promise<string | undefined> {
  const usual = socketDirectoryOf(dataDirectory);
  for (;;) {
    signal?.throwIfAborted();
    const found = await findPostmaster(dataDirectory);
    // A server in another container may use the same volume.
    if (!found) return (await answers(usual)) ? usual : undefined;
    if (found.status === 'stopping') return undefined;
    if (found.status === 'ready') return found.socketDirectory;
    await delay(POLL_MS);
  }
}

function mayEndSoon({ status, owner }: Postmaster): boolean {
  return status === 'stopping' || owner?.purpose === 'command';
}

function inUse(dataDirectory: string, found: Postmaster | undefined): EmbeddedPostgresError {
  // It answers but is none of our processes. So it runs in another container, on the same volume.
  const who = found?.owner ? `another running ${nameOf(found.owner)}` : 'a server in another container';
  return new EmbeddedPostgresError(
    `the data directory ${dataDirectory} is in use by ${who}: stop it, or set DATA_DIR to another directory`,
  );
}

function nameOf({ pid, purpose }: NonNullable<Postmaster['owner']>): string {
  return `${purpose === 'unknown' ? 'PostgreSQL server' : purpose} (process ${pid})`;
}
