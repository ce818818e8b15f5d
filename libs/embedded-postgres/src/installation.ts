import { dirname } from 'node:path';
import { accountsOfThisMachine, type Account, type DataDirectoryInfo } from './account.js';
import { findBinaries, type Binaries } from './binaries.js';
import { checkVersion, createData, giveTo, hasData } from './data-directory.js';
import { EmbeddedPostgresError, reasonOf } from './embedded-postgres.error.js';
import { ordinaryOwnerOf } from './folder.js';
import { run, type Environment } from './program.js';
import { linkSharedLibraries } from './shared-libraries.js';

/** The binaries and accounts of a machine. Tests replace them. */
export interface Machine {
  binaries(): Binaries;
  accounts(directory: DataDirectoryInfo): readonly Account[];
}

/** The machine that the service runs on. */
export const thisMachine: Machine = { binaries: () => findBinaries(), accounts: accountsOfThisMachine };

/** The input of a server start. */
export interface Installation {
  readonly dataDirectory: string;
  readonly binaries: Binaries;
  readonly environment: Environment;
  readonly account: Account;
  /** Whether the files in the data directory are new. */
  readonly created: boolean;
}

/** Chooses the account for PostgreSQL on this machine, and prepares the data directory. */
export async function install(
  dataDirectory: string,
  machine: Machine,
  signal?: AbortSignal,
): Promise<Installation> {
  const binaries = machine.binaries();
  try {
    const environment = await linkSharedLibraries(binaries.native, `${dataDirectory}.lib`);
    const files = { dataDirectory, binaries, environment };
    const { account, major } = await chooseAccount(files, machine, signal);
    const created = await createData(dataDirectory, { binaries, environment, account }, signal);
    await checkVersion(dataDirectory, major);
    await giveTo(dataDirectory, account.owner('postgres'));
    return { dataDirectory, binaries, environment, account, created };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof EmbeddedPostgresError) throw error;
    throw new EmbeddedPostgresError(
      `the data directory ${dataDirectory} cannot be prepared (${reasonOf(error)}): fix this, or set DATA_DIR to another directory`,
    );
  }
}

type InstallationFiles = Pick<Installation, 'dataDirectory' | 'binaries' | 'environment'>;

/** Returns the first account under which the programs run and can enter the folder of the data. */
async function chooseAccount(
  files: InstallationFiles,
  machine: Machine,
  signal?: AbortSignal,
): Promise<{ account: Account; major: string }> {
  const isInitialized = await hasData(files.dataDirectory);
  const owner = await ordinaryOwnerOf(files.dataDirectory);
  const accounts = machine.accounts({ owner, hasData: isInitialized });
  const failures: string[] = [];
  for (const account of accounts) {
    const postgres = await probe(account, 'postgres', files, signal);
    const initdb = isInitialized ? postgres : await probe(account, 'initdb', files, signal);
    if (postgres.major && initdb.major) return { account, major: postgres.major };
    const { reason } = postgres.major ? initdb : postgres;
    failures.push(accounts.length > 1 ? `${account.name}: ${reason}` : reason);
  }
  const remedy = process.getuid?.() === 0 ? 'start the service as an ordinary user, or set' : 'set';
  throw new EmbeddedPostgresError(
    `the embedded PostgreSQL does not run here (${failures.join('; ')}): ${remedy} DATABASE_URL to a PostgreSQL server`,
  );
}

/** Runs a program under the account in the folder of the data. Returns its major version. */
async function probe(
  account: Account,
  program: 'initdb' | 'postgres',
  { dataDirectory, binaries, environment }: InstallationFiles,
  signal?: AbortSignal,
): Promise<{ major: string | undefined; reason: string }> {
  const script = ['-c', 'cd "$1" && exec "$2" --version', 'sh', dirname(dataDirectory), binaries[program]];
  const invocation = account.invoke('/bin/sh', script, program);
  const { ok, output, reason } = await run(invocation, environment, signal);
  return { major: ok ? / (\d+)\.?\d*/.exec(output)?.[1] : undefined, reason };
}
