import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/*
 * `node libs/build/run.mjs [FILE [ARGUMENT]…]` compiles the service if a source has changed, and
 * runs FILE in this process with the arguments. It writes only to stderr: stdout is for FILE.
 */

const path = (...names) => join(import.meta.dirname, '..', '..', ...names);
/** The file with the hash of the sources from which `dist` was compiled. */
const HASH_FILE = path('dist', '.inputs');
/** The folder that exists while a process compiles. If it was not touched for 5 s, that process was killed. */
const LOCK = path('dist', '.lock');
const LOCK_TIMEOUT_MS = 5000;

const hash = inputHash();
const isCompiled = () => fs.existsSync(HASH_FILE) && fs.readFileSync(HASH_FILE, 'utf8') === hash;
if (!isCompiled()) await compile();
const [file, ...args] = process.argv.slice(2);
if (file !== undefined) {
  // FILE sees the arguments as if node had run it directly.
  process.argv.splice(1, Infinity, path(file), ...args);
  await import(pathToFileURL(path(file)).href);
}

/** Returns the hash of the sources. A checkout or copy would change the times of files. */
function inputHash() {
  const isSource = (name) =>
    /\.(ts|json|sql)$/.test(name) && !/\.spec\.ts$|(^|[\\/])(dist|node_modules)[\\/]/.test(name);
  const sources = ['src', 'libs'].flatMap((folder) =>
    fs.readdirSync(path(folder), { recursive: true }).map((name) => join(folder, name)),
  );
  const settings = fs.readdirSync(path()).filter((name) => /^(package|tsconfig)/.test(name));
  const digest = createHash('sha256');
  for (const name of [...sources, ...settings].filter(isSource).sort())
    digest.update(JSON.stringify([name, fs.readFileSync(path(name), 'utf8')]));
  return digest.digest('hex');
}

/**
 * Compiles, unless another process has meanwhile. It removes no output, which a running service may use; that of
 * removed sources is never loaded.
 */
async function compile() {
  fs.mkdirSync(path('dist'), { recursive: true });
  while (!takeLock()) await delay(100);
  const touch = setInterval(() => fs.utimesSync(LOCK, new Date(), new Date()), LOCK_TIMEOUT_MS / 5);
  const isDone = isCompiled() || (await runCompiler());
  clearInterval(touch);
  fs.rmdirSync(LOCK);
  if (!isDone) process.exit(1);
}

function takeLock() {
  try {
    fs.mkdirSync(LOCK);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  const { mtimeMs = Infinity } = fs.statSync(LOCK, { throwIfNoEntry: false }) ?? {};
  if (Date.now() - mtimeMs > LOCK_TIMEOUT_MS) fs.rmSync(LOCK, { recursive: true, force: true });
  return false;
}

async function runCompiler() {
  console.error('compiling, which takes some ten seconds');
  fs.rmSync(HASH_FILE, { force: true });
  const tsc = [path('node_modules', 'typescript', 'bin', 'tsc'), '-b', '--force', 'tsconfig.build.json'];
  const [status] = await once(spawn(process.execPath, tsc, { cwd: path(), stdio: ['ignore', 2, 2] }), 'exit');
  if (status === 0) {
    const filter = (name) => !/\.(ts|md)$/.test(name);
    fs.cpSync(path('src'), path('dist', 'src'), { recursive: true, filter });
    fs.writeFileSync(HASH_FILE, hash);
  }
  // Otherwise the owner of the project could not compile again. A container may forbid it, so errors are ignored.
  const { uid, gid } = fs.statSync(path());
  const folders = ['dist', 'libs/embedded-postgres/dist', 'libs/time-log-client/dist'];
  if (process.getuid?.() === 0) spawnSync('chown', ['-R', `${uid}:${gid}`, ...folders], { cwd: path() });
  return status === 0;
}
