import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { environment } from '../../support/environment.js';
import { isFull } from '../../support/extent.js';
import { endProcess, spawnProgram } from '../../support/service-process.js';
import { createTestDatabase } from '../../support/test-database.js';
import { useFolder } from '../../support/fixtures.js';
import { packLib, run } from '../package/run.js';
import { manifestIn, unpack } from '../package/tarball.js';

/** The application of a host on one version of Nest, with a package manager and its lockfile. */
interface Host {
  readonly nest: string;
  readonly lockfile: string;
  readonly manager: readonly [program: string, ...args: string[]];
  readonly install: readonly string[];
  readonly add: readonly string[];
  /** Which of the versions in the range of a peer, such as `^11.0.1 || ^12.2.0`, is the lowest for this Nest. */
  readonly lowest: number;
  /** Another way to compile it, as TypeScript resolves modules for older projects or for bundlers. */
  readonly resolution: readonly string[];
}

const HOSTS: readonly Host[] = [
  {
    nest: 'nest-11',
    lockfile: 'package-lock.json',
    manager: ['npm'],
    install: ['ci', '--no-audit', '--no-fund'],
    add: ['install', '--no-save', '--no-audit', '--no-fund'],
    lowest: 0,
    resolution: ['--module', 'commonjs', '--moduleResolution', 'node10'],
  },
  {
    nest: 'nest-12',
    lockfile: 'pnpm-lock.yaml',
    manager: ['npx', '--yes', 'pnpm@10.34.9'],
    install: ['install', '--frozen-lockfile'],
    add: ['add'],
    lowest: -1,
    resolution: ['--module', 'preserve', '--moduleResolution', 'bundler'],
  },
];
/** Arguments that use the cache of the package manager, and run no scripts of packages. */
const OFFLINE = ['--ignore-scripts', '--prefer-offline'];

const canInstall = await run('npm', ['view', '@nestjs/core@11.0.0', 'version', '--fetch-retries=0']).then(
  () => true,
  () => false,
);
if (!canInstall) process.stderr.write('skipped: the npm registry is out of reach\n');

(canInstall ? describe : describe.skip)('an application that embeds time logs', () => {
  const inFolder = useFolder('time-logs-');
  let tarballs: readonly [timeLogs: string, postgres: string];

  beforeAll(async () => {
    tarballs = await packLib(inFolder());
    await unpack(tarballs[0], inFolder());
  });

  describe.each(HOSTS)('on $nest', (host) => {
    let directory: string;

    const manage = ([program, ...args]: Host['manager'], ...more: string[]) =>
      run(program, [...args, ...more, ...OFFLINE], directory);
    const compile = (...options: string[]) =>
      run(process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit', ...options], directory);

    beforeAll(async () => {
      directory = inFolder('examples', host.nest);
      await cp(join(import.meta.dirname, 'host', host.nest, host.lockfile), join(directory, host.lockfile));
      await manage(host.manager, ...host.install);
      await manage(host.manager, ...host.add, ...tarballs);
    });

    it('compiles, with the declarations of all its packages', async () => {
      await compile();
      await compile(...host.resolution);
      await run('npm', ['run', 'build'], directory);
    });

    it('passes its own tests', async () => {
      await run('npm', ['test'], directory);
    });

    it('starts, and documents our routes next to its own', async () => {
      const database = await createTestDatabase();
      const env = environment({ DATABASE_URL: database.url, PORT: '0', MESSAGES_PORT: '0' });
      const app = spawnProgram([process.execPath, join(directory, 'dist', 'main.js')], env);
      try {
        const [, url] = await app.printed(/listening on (http:\S+)/);
        const { paths } = (await (await fetch(`${url}/docs-json`)).json()) as OpenAPIObject;
        expect(paths).toHaveProperty(['/approvals', 'post']);
        expect(paths).toHaveProperty(['/api/v1/time-logs', 'post', 'requestBody']);
      } finally {
        await endProcess(app.child);
        await database.drop();
      }
    });

    const itInFull = isFull ? it : it.skip;
    itInFull('passes them with the lowest versions that the package supports', async () => {
      const manifest = await readFile(join(directory, 'package.json'), 'utf8');
      const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
      const { peerDependencies: peers } = await manifestIn(inFolder());
      const lowestOf = (name: string) => peers[name]?.match(/\d+\.\d+\.\d+/g)?.at(host.lowest);
      const lowest = Object.keys(dependencies).flatMap((name) => {
        const version = lowestOf(name === '@nestjs/platform-express' ? '@nestjs/core' : name);
        return version === undefined ? [] : [`${name}@${version}`];
      });
      expect(lowest).toContain(`@nestjs/core@${lowestOf('@nestjs/core')}`);
      await manage(host.manager, ...host.add, ...tarballs, ...lowest);
      await compile();
      await run('npm', ['test'], directory);
    });
  });
});
