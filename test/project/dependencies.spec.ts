import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface Package {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly allowScripts?: Record<string, boolean>;
}

interface Lock {
  readonly packages: Record<
    string,
    {
      readonly integrity?: string;
      readonly dev?: boolean;
      /** Whether it is a workspace. */
      readonly link?: boolean;
      readonly hasInstallScript?: boolean;
      readonly license?: string;
    }
  >;
}

/** Licences that allow every use, and ask for no more than a notice. */
const PERMISSIVE = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-3-Clause', 'ISC', 'MIT', 'Unlicense'];
/** Packages under MIT that do not name it as `license` of their package.json. */
const MIT = ['busboy', 'passport-http-bearer', 'passport-strategy', 'pause', 'streamsearch'];

const read = async <T>(name: string) =>
  JSON.parse(await readFile(join(import.meta.dirname, '..', '..', name), 'utf8')) as T;

describe('dependencies', () => {
  it.each(['.', 'libs/embedded-postgres', 'test/lab/tools'])('are pinned exactly: %s', async (folder) => {
    const { dependencies, optionalDependencies, devDependencies } = await read<Package>(
      `${folder}/package.json`,
    );
    const all = Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies });
    expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });

  it('that the service runs with are locked with the digest of their contents', async () => {
    const { packages } = await read<Lock>('package-lock.json');
    const installed = Object.entries(packages).filter(([path]) => path.startsWith('node_modules/'));
    const running = installed.filter(([, { dev, link }]) => !dev && !link);
    expect(running.length).toBeGreaterThan(50);
    expect(running.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
  });

  it('that the service runs with have permissive licences', async () => {
    const { packages } = await read<Lock>('package-lock.json');
    const running = Object.entries(packages).filter(([path, { dev, link }]) => path !== '' && !dev && !link);
    const others = running.filter(([, { license = '' }]) => !PERMISSIVE.includes(license));
    expect(others.map(([path]) => path)).toEqual(MIT.map((name) => `node_modules/${name}`));
  });

  it.each(['.', 'test/lab/tools'])('run no script at installation: %s', async (folder) => {
    const { allowScripts = {} } = await read<Package>(`${folder}/package.json`);
    const { packages } = await read<Lock>(`${folder}/package-lock.json`);
    const scripted = Object.entries(packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
    expect(Object.entries(allowScripts).filter(([, isAllowed]) => isAllowed)).toEqual([]);
    expect(scripted.filter((name) => !(name in allowScripts))).toEqual([]);
  });
});
