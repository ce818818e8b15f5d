import { dirname } from 'node:path';
import { accountsOfThisMachine, type Account } from './account.js';
import { findBinaries, type Binaries } from './binaries.js';
import { checkVersion, createData, giveTo } from './data-directory.js';
import { EmbeddedPostgresError, reasonOf } from './embedded-postgres.error.js';
import { run, type Environment } from './program.js';
import { linkSharedLibraries } from './shared-libraries.js';

/** What the machine has to offer; tests put other offers in its place. */
export interface Machine {
  binaries(): Binaries;
  accounts(): readonly Account[];
}

/** The machine that the service runs on. */
export const thisMachine: Machine = { binaries: () => findBinaries(), accounts: accountsOfThisMachine };

/** All that is needed to start the server of a data directory. */
export interface Installation {
  readonly dataDirectory: string;
  readonly binaries: Binaries;
  readonly environment: Environment;
  readonly account: Account;
  /** Whether the files in the data directory have just been made. */
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
    const { account, major } = await chooseAccount(
      dataDirectory,
      machine.accounts(),
      binaries,
      environment,
      signal,
    );
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

/** Takes the first account under which the server's program runs and the place of the data can be entered. */
async function chooseAccount(
  dataDirectory: string,
  accounts: readonly Account[],
  binaries: Binaries,
  environment: Environment,
  signal?: AbortSignal,
): Promise<{ account: Account; major: string }> {
  const failures: string[] = [];
  for (const account of accounts) {
    const script = 'cd "$1" && exec "$2" --version';
    const probe = ['-c', script, 'sh', dirname(dataDirectory), binaries.postgres];
    const { ok, output, reason } = await run(
      account.invoke('/bin/sh', probe, 'postgres'),
      environment,
      signal,
    );
    const major = / (\d+)\.?\d*/.exec(output)?.[1];
    if (ok && major) return { account, major };
    failures.push(accounts.length > 1 ? `${account.name}: ${reason}` : reason);
  }
  const remedy = process.getuid?.() === 0 ? 'start the service as an ordinary user, or set' : 'set';
  throw new EmbeddedPostgresError(
    `the embedded PostgreSQL does not run here (${failures.join('; ')}): ${remedy} DATABASE_URL to a PostgreSQL server`,
  );
}
