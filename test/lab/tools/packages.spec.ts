import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { node, packLib, packWorkspace } from '../package/run.js';
import { manifestIn, unpack, unpacked } from '../package/tarball.js';

const { CommonJS, ESNext } = ts.ModuleKind;
/** How a host may look for types, and of which kind those must be that it finds: only Node knows kinds. */
const RESOLUTIONS = [
  ['host.ts', ['commonjs', 'node10'], undefined],
  ['host.cts', ['node16', 'node16'], CommonJS],
  ['host.mts', ['node16', 'node16'], ESNext],
  ['host.ts', ['esnext', 'bundler'], undefined],
] as const;

describe.each([
  ['for hosts', async (directory: string) => (await packLib(directory))[0]],
  ['of the client', (directory: string) => packWorkspace('@time-logs/client', directory)],
  [
    'of the embedded PostgreSQL',
    (directory: string) => packWorkspace('@time-logs/embedded-postgres', directory),
  ],
])('the package %s', (name, pack) => {
  let directory: string;
  let tarball: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'time-logs-tarball-'));
    tarball = await pack(directory);
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('is clean for publint', async () => {
    const publint = 'test/lab/tools/node_modules/publint/src/cli.js';
    // Its suggestion to leave out tests is not for those of the examples.
    expect(await node(publint, ['run', '--strict', '--level', 'warning', tarball])).toContain('All good!');
  });

  it('has types for every kind of module resolution', async () => {
    const manifest = manifestIn(await unpacked(tarball)) as ReturnType<typeof manifestIn> & { name: string };
    await unpack(tarball, join(directory, 'node_modules', manifest.name));
    const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json');
    expect(entries.length).toBeGreaterThan(0);
    for (const entry of entries)
      for (const [importer, [module, resolution], kind] of RESOLUTIONS) {
        const line = ['--module', module, '--moduleResolution', resolution];
        const { options } = ts.parseCommandLine(line);
        const { resolvedModule } = ts.resolveModuleName(
          join(manifest.name, entry),
          join(directory, importer),
          options,
          ts.sys,
          ...([undefined, undefined, kind] as const),
        );
        const file = resolvedModule?.resolvedFileName ?? '';
        // CommonJS can require ES modules since Node 20.19.
        const expected = name === 'of the embedded PostgreSQL' && kind ? ESNext : kind;
        const found = kind && ts.getImpliedNodeFormatForFile(file, undefined, ts.sys, options);
        expect([entry, importer, file, found]).toEqual([
          ...[entry, importer],
          ...[expect.stringMatching(/[.]d[.]ts$/), expected],
        ]);
      }
  });
});
