import { dirname } from 'node:path';
import { type Account, accountsFor, invoke } from './account.js';
import { type Binaries, findBinaries, linkSharedLibraries } from './binaries.js';
import { checkVersion, createData, giveTo, hasData, ownerOf } from './data-directory.js';
import { EmbeddedPostgresError, reasonOf, type Environment, run } from './program.js';

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
  binaries = findBinaries(),
  initdbOptions?: readonly string[],
): Promise<Installation> {
  try {
    const environment = await linkSharedLibraries(binaries.native, `${dataDirectory}.lib`);
    const created = !(await hasData(dataDirectory));
    const files = { dataDirectory, binaries, environment, created };
    const { account, major } = await chooseAccount(files);
    const installation = { ...files, account };
    if (created) await createData(dataDirectory, installation, initdbOptions);
    await checkVersion(dataDirectory, major);
    await giveTo(dataDirectory, account.user);
    return installation;
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    throw new EmbeddedPostgresError(
      `the data directory ${dataDirectory} cannot be prepared (${reasonOf(error)}): fix this, or set DATA_DIR to another directory`,
    );
  }
}

/** Returns the first account under which PostgreSQL runs and can enter the folder of the data. */
async function chooseAccount({
  dataDirectory,
  binaries,
  environment,
  created,
}: Omit<Installation, 'account'>): Promise<{ account: Account; major: string }> {
  const accounts = accountsFor(await ownerOf(dataDirectory), !created);
  const script = ['-c', 'cd "$1" && exec "$2" --version', 'sh', dirname(dataDirectory), binaries.postgres];
  const failures: string[] = [];
  for (const account of accounts) {
    const { ok, output, reason } = await run(invoke(account, '/bin/sh', script), environment);
    const [, major] = / (\d+)\.?\d*/.exec(output) ?? [];
    if (ok && major !== undefined) return { account, major };
    failures.push(accounts.length > 1 ? `as user ${account.user.uid}: ${reason}` : reason);
  }
  const remedy = process.getuid?.() === 0 ? 'start the service as an ordinary user, or set' : 'set';
  throw new EmbeddedPostgresError(
    `the embedded PostgreSQL does not run here (${failures.join('; ')}): ${remedy} DATABASE_URL to a PostgreSQL server`,
  );
}
