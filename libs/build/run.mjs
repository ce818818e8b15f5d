import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/*
 * `node libs/build/run.mjs [FILE [ARGUMENT]…]` compiles the service if a source has changed, and
 * runs FILE in this process with the arguments. It writes only to stderr: stdout is for FILE.
 */

const PROJECT = join(import.meta.dirname, '..', '..');
const path = (...names) => join(PROJECT, ...names);
/** The file with the hash of the sources from which `dist` was compiled. */
const HASH_FILE = path('dist', '.inputs');
/** Files and folders that the service reads and that need no compiler. */
const ASSETS = [
  join('src', 'api-docs', 'openapi.json'),
  join('src', 'api-docs', 'page'),
  join('src', 'time-log', 'infrastructure', 'schema'),
];

/** Returns the output folders of the compiler with their sources. */
const outputs = () => [
  ...['src', 'libs'].map((folder) => ({ compiled: path('dist', folder), from: path(folder) })),
  ...readdirSync(path('libs'))
    .map((lib) => ({ compiled: path('libs', lib, 'dist'), from: path('libs', lib, 'src') }))
    .filter(({ compiled }) => existsSync(compiled)),
];

/** Returns the files of a folder and of its subfolders. */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Returns the hash of the compiler's input. A checkout or copy would change the times of files. */
function inputHash() {
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

/** Compiles without removing files that have a source: a running service may use them. */
function compile(hash) {
  console.error('compiling, which takes about a minute');
  rmSync(HASH_FILE, { force: true });
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const args = [tsc, '-b', '--force', 'tsconfig.build.json'];
  const { status } = spawnSync(process.execPath, args, { cwd: PROJECT, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
  const filter = (file) => !/\.(ts|md)$/.test(file);
  for (const name of ASSETS) cpSync(path(name), path('dist', name), { recursive: true, filter });
  outputs().forEach(removeStaleOutput);
  writeFileSync(HASH_FILE, hash);
  changeOwner();
}

/** Removes output whose source is missing, except `commonjs`, which is made when packing. */
function removeStaleOutput({ compiled, from }) {
  const forms = /\.(js|d\.ts)(\.map)?$/;
  for (const file of filesIn(compiled)) {
    const name = relative(compiled, file);
    const isOurs = forms.test(name) && !name.startsWith('commonjs');
    const sources = [name.replace(forms, '.ts'), name];
    if (isOurs && !sources.some((source) => existsSync(join(from, source)))) rmSync(file);
  }
}

/** Gives root's output to the owner of the project, who otherwise could not compile again. */
function changeOwner() {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(PROJECT);
  const folders = [path('dist'), ...outputs().map(({ compiled }) => compiled)];
  // Errors are ignored: a container or a network drive may forbid this.
  spawnSync('chown', ['-R', `${uid}:${gid}`, ...folders]);
}

const currentHash = inputHash();
if (!existsSync(HASH_FILE) || readFileSync(HASH_FILE, 'utf8') !== currentHash) compile(currentHash);

const [file, ...args] = process.argv.slice(2);
if (file !== undefined) {
  const program = resolve(PROJECT, file);
  // FILE sees the arguments as if node had run it directly.
  process.argv.splice(1, Infinity, program, ...args);
  await import(pathToFileURL(program).href);
}
