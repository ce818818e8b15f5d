import { lchown, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { addressOf } from './error-message.js';

/** A database that is ready for connections. */
export interface OpenDatabase {
  /** Describes the database for the log, without a password. */
  readonly name: string;
  readonly url: string;
  readonly migrationUrl: string;
  /** The name of the setting that holds `migrationUrl`. */
  readonly migrationSetting: string;
  /** Gives a file to the user of the embedded database, if that user owns the folder. */
  keepOwner(file: string): Promise<void>;
  /** Stops an embedded database that was started. It does not stop an external one. */
  close(): Promise<void>;
}

export interface OpenDatabaseOptions {
  readonly databaseUrl: string | undefined;
  readonly migrationDatabaseUrl: string | undefined;
  readonly dataDir: string;
  readonly log: (line: string) => void;
  readonly onFailure?: (error: Error) => void;
  readonly signal?: AbortSignal | undefined;
  /** Whether to attach to an embedded database that is already running. */
  readonly isCommand?: boolean;
  /** Called after a database was created: the DATA_DIR may be a mistake. */
  readonly onNew?: (dataDir: string) => void;
}

/** Opens the database of DATABASE_URL. Without that setting, starts the embedded one. */
export async function openDatabase({
  databaseUrl,
  migrationDatabaseUrl,
  dataDir,
  log,
  onFailure,
  signal,
  isCommand,
  onNew,
}: OpenDatabaseOptions): Promise<OpenDatabase> {
  if (databaseUrl !== undefined) {
    const { name, server } = addressOf(databaseUrl);
    return {
      name: `${name} at ${server}`,
      url: databaseUrl,
      migrationUrl: migrationDatabaseUrl ?? databaseUrl,
      migrationSetting: migrationDatabaseUrl === undefined ? 'DATABASE_URL' : 'MIGRATION_DATABASE_URL',
      keepOwner: async () => undefined,
      close: async () => undefined,
    };
  }
  const dataDirectory = join(dataDir, 'postgres');
  const { EmbeddedPostgres } = await import('@time-logs/embedded-postgres');
  const server = await EmbeddedPostgres[isCommand ? 'attachOrStart' : 'start']({
    dataDirectory,
    log,
    onFailure,
    signal,
  });
  if (server.created) onNew?.(dataDir);
  return {
    name: `embedded, in ${dataDirectory}`,
    url: server.url,
    migrationUrl: server.url,
    migrationSetting: 'DATA_DIR',
    keepOwner: (file) => keepOwner(file, dataDir),
    close: () => server.stop(),
  };
}

/** Changes the owner only to a user who can read the database anyway. */
async function keepOwner(file: string, dataDir: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const [user, folder] = await Promise.all([stat(dataDir), stat(dirname(file))]);
  if (folder.uid === user.uid) await lchown(file, user.uid, user.gid);
}
