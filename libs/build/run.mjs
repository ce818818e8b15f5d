import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/*
 * `node libs/build/run.mjs [FILE [ARGUMENT]…]` compiles the service where a source has changed since it was compiled last.
 * Then it runs FILE in this process, with the arguments. What it says goes to stderr: stdout belongs to the FILE.
 */

const PROJECT = join(import.meta.dirname, '..', '..');
const path = (...names) => join(PROJECT, ...names);
/** Holds what `dist` was compiled from. */
const NOTE = path('dist', '.inputs');
/** What the service reads as it is. */
const READ = [
  join('src', 'api-docs', 'openapi.json'),
  join('src', 'api-docs', 'page'),
  join('src', 'time-log', 'infrastructure', 'schema'),
];

/** Where the compiler writes, and from which folder. Whatever else is in `dist` belongs to others. */
const outputs = () => [
  ...['src', 'libs'].map((folder) => ({ compiled: path('dist', folder), from: path(folder) })),
  ...readdirSync(path('libs'))
    .map((lib) => ({ compiled: path('libs', lib, 'dist'), from: path('libs', lib, 'src') }))
    .filter(({ compiled }) => existsSync(compiled)),
];

/** The files of a folder, the deeper ones included. */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Stands for all that the compiler reads. Times of files say nothing: a checkout or a copy changes them. */
function inputs() {
  const sources = [path('src'), path('libs')]
    .flatMap(filesIn)
    .filter((file) => !/[\\/](dist|node_modules)[\\/]|\.spec\.ts$/.test(file));
  const settings = readdirSync(PROJECT).filter((name) => /^(package|tsconfig).*\.json$/.test(name));
  const hash = createHash('sha256');
  for (const file of [...sources, ...settings.map((name) => path(name))].sort()) {
    const content = readFileSync(file);
    hash.update(`${relative(PROJECT, file)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/**
 * Compiles over what is there, and removes nothing that has a source: a service may run from it, or start just now.
 */
function compile(from) {
  console.error('compiling, which takes about a minute');
  rmSync(NOTE, { force: true });
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const args = [tsc, '-b', '--force', 'tsconfig.build.json'];
  const { status } = spawnSync(process.execPath, args, { cwd: PROJECT, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
  const isRead = (from) => !/\.(ts|md)$/.test(from);
  for (const name of READ) cpSync(path(name), path('dist', name), { recursive: true, filter: isRead });
  outputs().forEach(removeLeftovers);
  writeFileSync(NOTE, from);
  handToOwner();
}

/** Removes what was compiled from sources that are gone. `commonjs` is made where a workspace is packed. */
function removeLeftovers({ compiled, from }) {
  const forms = /\.(js|d\.ts)(\.map)?$/;
  for (const file of filesIn(compiled)) {
    const name = relative(compiled, file);
    const isOurs = forms.test(name) && !name.startsWith('commonjs');
    const sources = [name.replace(forms, '.ts'), name];
    if (isOurs && !sources.some((source) => existsSync(join(from, source)))) rmSync(file);
  }
}

/** What root compiles belongs to the owner of the project, who could not compile again otherwise. */
function handToOwner() {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(PROJECT);
  const folders = [path('dist'), ...outputs().map(({ compiled }) => compiled)];
  // It may be forbidden, in a container or on a network drive.
  spawnSync('chown', ['-R', `${uid}:${gid}`, ...folders]);
}

const now = inputs();
if (!existsSync(NOTE) || readFileSync(NOTE, 'utf8') !== now) compile(now);

const [file, ...args] = process.argv.slice(2);
if (file !== undefined) {
  const program = resolve(PROJECT, file);
  // As if the program had been called itself.
  process.argv.splice(1, Infinity, program, ...args);
  await import(pathToFileURL(program).href);
}
