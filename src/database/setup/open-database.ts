import { lchown, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { addressOf } from './connection-fault.js';

/** A database that is ready for connections. */
export interface OpenDatabase {
  /** Says which one it is, without a password. */
  readonly name: string;
  readonly url: string;
  readonly migrationUrl: string;
  /** The name of the setting that holds the latter. */
  readonly migrationSetting: string;
  /** Gives a file that root has written to the user of the embedded database, if it lies in that user's folder. */
  keepOwner(file: string): Promise<void>;
  /** Stops what was started. An external database is left alone. */
  close(): Promise<void>;
}

/** A PostgreSQL server of the service's own. */
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

/** Starts such servers. */
export interface EmbeddedDatabases {
  start(options: EmbeddedOptions): Promise<EmbeddedServer>;
  /** Uses a server that runs already, and leaves it running. */
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

/** Opens the database of DATABASE_URL; without that setting the embedded one, started for the service. */
export function openDatabase(
  databases: EmbeddedDatabases | undefined,
  options: OpenDatabaseOptions,
): Promise<OpenDatabase> {
  return open(options, databases && ((embedded) => databases.start(embedded)));
}

/** Does the same for a command. An embedded database that runs already is used and left running. */
export function openDatabaseForCommand(
  databases: EmbeddedDatabases | undefined,
  options: OpenDatabaseOptions & {
    /** Told where the embedded database was made just now. The command may have another DATA_DIR than the service. */
    readonly onNew?: (dataDir: string) => void;
  },
): Promise<OpenDatabase> {
  const attach = async (start: EmbeddedDatabases, embedded: EmbeddedOptions) => {
    const server = await start.attachOrStart(embedded);
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
  if (!start) throw new Error('there is no embedded database in this build: set DATABASE_URL');
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

/** The file goes only to a user who can read the database anyway. */
async function keepOwner(file: string, dataDir: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const [user, folder] = await Promise.all([stat(dataDir), stat(dirname(file))]);
  if (folder.uid === user.uid) await lchown(file, user.uid, user.gid);
}
