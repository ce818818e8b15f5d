import { dirname } from 'node:path';
import { accountsOfThisMachine, type Account, type Place } from './account.js';
import { findBinaries, type Binaries } from './binaries.js';
import { checkVersion, createData, giveTo, hasData } from './data-directory.js';
import { EmbeddedPostgresError, reasonOf } from './embedded-postgres.error.js';
import { ordinaryOwnerOf } from './folder.js';
import { run, type Environment } from './program.js';
import { linkSharedLibraries } from './shared-libraries.js';

/** The binaries and accounts of a machine. Tests use others. */
export interface Machine {
  binaries(): Binaries;
  accounts(place: Place): readonly Account[];
}

/** The machine that the service runs on. */
export const thisMachine: Machine = { binaries: () => findBinaries(), accounts: accountsOfThisMachine };

/** Everything that the start of a server needs. */
export interface Installation {
  readonly dataDirectory: string;
  readonly binaries: Binaries;
  readonly environment: Environment;
  readonly account: Account;
  /** Whether the files in the data directory are new. */
  readonly created: boolean;
}

/** Finds out how PostgreSQL runs on this machine, and makes the data directory ready for it. */
export async function install(
  dataDirectory: string,
  machine: Machine,
  signal?: AbortSignal,
): Promise<Installation> {
  const binaries = machine.binaries();
  try {
    const environment = await linkSharedLibraries(binaries.native, `${dataDirectory}.lib`);
    const site = { dataDirectory, binaries, environment };
    const { account, major } = await chooseAccount(site, machine, signal);
    const created = await createData(dataDirectory, { binaries, environment, account }, signal);
    await checkVersion(dataDirectory, major);
    await giveTo(dataDirectory, account.owner('postgres'));
    return { dataDirectory, binaries, environment, account, created };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof EmbeddedPostgresError) throw error;
    throw new EmbeddedPostgresError(
      `the data directory ${dataDirectory} cannot be made ready (${reasonOf(error)}): remedy this, or set DATA_DIR to another directory`,
    );
  }
}

type Site = Pick<Installation, 'dataDirectory' | 'binaries' | 'environment'>;

/** The first account under which the programs run and can enter the folder of the data. */
async function chooseAccount(
  site: Site,
  machine: Machine,
  signal?: AbortSignal,
): Promise<{ account: Account; major: string }> {
  const isMade = await hasData(site.dataDirectory);
  const owner = await ordinaryOwnerOf(site.dataDirectory);
  const accounts = machine.accounts({ owner, hasData: isMade });
  const failures: string[] = [];
  for (const account of accounts) {
    const postgres = await probe(account, 'postgres', site, signal);
    const initdb = isMade ? postgres : await probe(account, 'initdb', site, signal);
    if (postgres.major && initdb.major) return { account, major: postgres.major };
    const { reason } = postgres.major ? initdb : postgres;
    failures.push(accounts.length > 1 ? `${account.name}: ${reason}` : reason);
  }
  const remedy = process.getuid?.() === 0 ? 'start the service as an ordinary user, or set' : 'set';
  throw new EmbeddedPostgresError(
    `the embedded PostgreSQL does not run here (${failures.join('; ')}): ${remedy} DATABASE_URL to a PostgreSQL server`,
  );
}

/** Asks a program for its major version, under the account and in the folder of the data. */
async function probe(
  account: Account,
  program: 'initdb' | 'postgres',
  { dataDirectory, binaries, environment }: Site,
  signal?: AbortSignal,
): Promise<{ major: string | undefined; reason: string }> {
  const script = ['-c', 'cd "$1" && exec "$2" --version', 'sh', dirname(dataDirectory), binaries[program]];
  const invocation = account.invoke('/bin/sh', script, program);
  const { ok, output, reason } = await run(invocation, environment, signal);
  return { major: ok ? / (\d+)\.?\d*/.exec(output)?.[1] : undefined, reason };
}
