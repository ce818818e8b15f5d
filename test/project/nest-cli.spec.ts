import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const PROJECT = join(import.meta.dirname, '..', '..');

interface NestCli {
  readonly compilerOptions: { readonly tsConfigPath: string };
  readonly projects: Record<string, { readonly root: string; readonly sourceRoot: string }>;
}

const read = async <T>(name: string) => JSON.parse(await readFile(join(PROJECT, name), 'utf8')) as T;

describe('nest-cli.json', () => {
  it('names every library, and no other', async () => {
    const { projects } = await read<NestCli>('nest-cli.json');
    const folders = await readdir(join(PROJECT, 'libs'), { recursive: true });
    const libraries = folders
      .filter((file) => /^[^/]+\/src\/index\.ts$/.test(file))
      .map((file) => `libs/${file}`);
    const named = Object.values(projects).map(({ sourceRoot }) => `${sourceRoot}/index.ts`);
    expect(named.sort()).toEqual(libraries.sort());
  });

  it('builds what `npm run build` builds', async () => {
    const { compilerOptions } = await read<NestCli>('nest-cli.json');
    const runner = await readFile(join(PROJECT, 'libs/build/run.mjs'), 'utf8');
    expect(runner).toContain(`'-b', '--force', '${compilerOptions.tsConfigPath}'`);
  });
});
