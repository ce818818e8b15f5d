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

/** A running embedded PostgreSQL server. */
interface EmbeddedServer {
  readonly url: string;
  stop(): Promise<void>;
}

interface EmbeddedOptions {
  readonly dataDirectory: string;
  readonly log: (line: string) => void;
  readonly onFailure?: (error: Error) => void;
  readonly signal?: AbortSignal;
}

/** Starts embedded servers. */
export interface EmbeddedDatabases {
  start(options: EmbeddedOptions): Promise<EmbeddedServer>;
  /** Attaches to a server that is already running, and leaves it running; else starts one. */
  attachOrStart(options: EmbeddedOptions): Promise<EmbeddedServer & { readonly created: boolean }>;
}

export interface OpenDatabaseOptions {
  readonly databaseUrl: string | undefined;
  readonly migrationDatabaseUrl: string | undefined;
  readonly dataDir: string;
  readonly log: (line: string) => void;
  readonly onFailure?: (error: Error) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Opens the database of DATABASE_URL. Without that setting, starts the embedded one. */
export function openDatabase(
  databases: EmbeddedDatabases | undefined,
  options: OpenDatabaseOptions,
): Promise<OpenDatabase> {
  return open(options, databases && ((embedded) => databases.start(embedded)));
}

/** Opens the database for a command. Attaches to an embedded database that is already running. */
export function openDatabaseForCommand(
  databases: EmbeddedDatabases | undefined,
  options: OpenDatabaseOptions & {
    /** Called after a database was created: the DATA_DIR may be a mistake. */
    readonly onNew?: (dataDir: string) => void;
  },
): Promise<OpenDatabase> {
  const attach = async (provider: EmbeddedDatabases, embedded: EmbeddedOptions) => {
    const server = await provider.attachOrStart(embedded);
    if (server.created) options.onNew?.(options.dataDir);
    return server;
  };
  return open(options, databases && ((embedded) => attach(databases, embedded)));
}

async function open(
  { databaseUrl, migrationDatabaseUrl, dataDir, ...rest }: OpenDatabaseOptions,
  start: EmbeddedDatabases['start'] | undefined,
): Promise<OpenDatabase> {
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
  if (!start) throw new Error('this build has no embedded database: set DATABASE_URL');
  const { log, onFailure, signal } = rest;
  const dataDirectory = join(dataDir, 'postgres');
  const server = await start({
    dataDirectory,
    log,
    ...(onFailure && { onFailure }),
    ...(signal && { signal }),
  });
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
