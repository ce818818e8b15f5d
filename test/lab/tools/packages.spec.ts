import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { useFolder } from '../../support/fixtures.js';
import { node, packLib, packWorkspace } from '../package/run.js';
import { manifestIn, unpack } from '../package/tarball.js';

const { CommonJS, ESNext } = ts.ModuleKind;
/** How a host may look for types, and of which kind those must be that it finds: only Node knows kinds. */
const RESOLUTIONS = [
  ['host.ts', ['commonjs', 'node10'], undefined],
  ['host.cts', ['node16', 'node16'], CommonJS],
  ['host.mts', ['node16', 'node16'], ESNext],
  ['host.ts', ['esnext', 'bundler'], undefined],
] as const;

describe.each(['time-logs', '@time-logs/client', '@time-logs/embedded-postgres'])(
  'the package %s',
  (name) => {
    const inFolder = useFolder('time-logs-tarball-');
    let tarball: string;

    beforeAll(async () => {
      if (name === 'time-logs') [tarball] = await packLib(inFolder());
      else ({ tarball } = await packWorkspace(name, inFolder()));
    });

    it('is clean for publint', async () => {
      const publint = 'test/lab/tools/node_modules/publint/src/cli.js';
      // Its suggestion to leave out tests is not for those of the examples.
      expect(await node(publint, ['run', '--strict', '--level', 'warning', tarball])).toContain('All good!');
    });

    it('has types for every kind of module resolution', async () => {
      await unpack(tarball, inFolder('node_modules', name));
      const manifest = await manifestIn(inFolder('node_modules', name));
      const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json');
      expect(entries.length).toBeGreaterThan(0);
      for (const entry of entries)
        for (const [importer, [module, resolution], kind] of RESOLUTIONS) {
          const line = ['--module', module, '--moduleResolution', resolution];
          const { options } = ts.parseCommandLine(line);
          const { resolvedModule } = ts.resolveModuleName(
            join(name, entry),
            inFolder(importer),
            options,
            ts.sys,
            ...([undefined, undefined, kind] as const),
          );
          const file = resolvedModule?.resolvedFileName ?? '';
          // CommonJS can require ES modules since Node 20.19.
          const expected = name === '@time-logs/embedded-postgres' && kind ? ESNext : kind;
          const found = kind && ts.getImpliedNodeFormatForFile(file, undefined, ts.sys, options);
          expect([entry, importer, file, found]).toEqual([
            ...[entry, importer],
            ...[expect.stringMatching(/[.]d[.]ts$/), expected],
          ]);
        }
    });
  },
);
