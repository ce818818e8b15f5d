import { existsSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { jest } from '@jest/globals';

/*
 * Tests in test/ import the sources; with this they get the compiled modules, which every test run compiles first
 * (global-setup.mjs), and their frameworks. Jest evaluates every module again for each test file, which takes seconds;
 * these are loaded once for all files of a worker.
 */

const ROOT = join(import.meta.dirname, '..', '..');
const REGISTRY = join(ROOT, 'node_modules/@nestjs/typeorm/dist/data-source-name.registry.js');
const FRAMEWORKS = [
  ...['common', 'core', 'microservices', 'platform-express', 'swagger', 'testing', 'typeorm'].map(
    (name) => `@nestjs/${name}`,
  ),
  ...['rxjs', 'typeorm'],
];

if (globalThis.usesCompiled) {
  // A start that failed in an earlier file leaves the name of its data source behind. The next one would log a warning.
  (await importOnce(REGISTRY)).DataSourceNameRegistry.clear();
  // Decorators of a test file keep what they know where the frameworks look for it.
  await importOnce('reflect-metadata');
  for (const key of Reflect.ownKeys(serviceGlobal.Reflect)) Reflect[key] ??= serviceGlobal.Reflect[key];
  // An error of a host is an instance of Error for the code that catches it, and vice versa.
  globalThis.Error = serviceGlobal.Error;
  for (const name of FRAMEWORKS) jest.unstable_mockModule(name, () => importOnce(name));
  for (const folder of ['src', 'libs']) {
    for (const file of readdirSync(join(ROOT, 'dist', folder), { recursive: true })) {
      // A compiled file may be left of a source that is gone, which Jest cannot resolve.
      if (!file.endsWith('.js') || !existsSync(join(ROOT, folder, file.replace(/js$/, 'ts')))) continue;
      // A workspace has a build of its own. The bench compiles it here too, and a later test would get that copy.
      if (existsSync(join(ROOT, folder, file.split(sep)[0], 'package.json'))) continue;
      const compiled = join(ROOT, 'dist', folder, file);
      // As the tests write the path of a source, and as a package names its build.
      for (const path of [`../../${folder}/${file.replaceAll('\\', '/')}`, compiled])
        jest.unstable_mockModule(path, () => importOnce(compiled));
    }
  }
}
