import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningHost } from '../../host/foreign-host.contract.js';
import type { HostOptions } from '../../host/host.js';
import { environment } from '../../support/environment.js';
import { endProcess } from '../../support/service-process.js';
import { node, PROJECT, run } from './run.js';
import { manifestIn, unpacked } from './tarball.js';

/** The packages that a host app is built with. */
export interface HostBuild {
  readonly type: 'module' | 'commonjs';
  /** Those of the project, or the lowest of the ranges of peers: `older || newer`. */
  readonly versions: 'newest' | 'oldest of the newer' | 'oldest';
  readonly compilerOptions: object;
}

/** As strict as a host may be; the declarations of all its packages are checked too. */
const COMPILER_OPTIONS = {
  ...{ target: 'es2022', lib: ['es2023'], types: ['node'], strict: true, skipLibCheck: false },
  ...{ experimentalDecorators: true, emitDecoratorMetadata: true },
};
/** The packages that a host of any version has in the version of the project. */
const SHARED_PACKAGES = [
  ...['@types/express', '@types/node', '@types/passport', 'passport', 'pg', 'reflect-metadata', 'rxjs'],
];
/** Without scripts, audit and advice: what is fetched already is not fetched again. */
const INSTALL = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
/** Milliseconds until a host that says nothing counts as failed. */
const START_LIMIT = 300_000;

/** Builds a host app in an empty directory: installs the tarball and its own packages, and compiles it. */
export async function buildHost(directory: string, tarball: string, build: HostBuild): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const file of ['host.ts', 'program.ts'])
    await cp(join(PROJECT, 'test', 'host', file), join(directory, file));
  const { type, versions, compilerOptions: own } = build;
  const dependencies = await dependenciesOf(versions, tarball);
  await writeJson(join(directory, 'package.json'), { name: 'host', private: true, type, dependencies });
  await writeJson(join(directory, 'tsconfig.json'), { compilerOptions: { ...COMPILER_OPTIONS, ...own } });
  await installTarballs(directory, tarball);
  await compile(directory);
}

/** The packages of a host: the peers, and what it needs besides. */
async function dependenciesOf(versions: HostBuild['versions'], tarball: string): Promise<object> {
  const manifest = await readFile(join(PROJECT, 'package.json'), 'utf8');
  const project = JSON.parse(manifest) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
  const pins = { ...project.devDependencies, ...project.dependencies };
  const peers: Record<string, string> = {};
  for (const [name, range] of Object.entries(manifestIn(await unpacked(tarball)).peerDependencies)) {
    const [older, newer = older] = range.match(/\d+\.\d+\.\d+/g) ?? [];
    peers[name] = { newest: pins[name], 'oldest of the newer': newer, oldest: older }[versions]!;
  }
  const nest = peers['@nestjs/core']!;
  const swagger = { newest: pins['@nestjs/swagger'], 'oldest of the newer': '12.0.0', oldest: '11.0.0' };
  return {
    ...Object.fromEntries(SHARED_PACKAGES.map((name) => [name, pins[name]])),
    ...peers,
    '@nestjs/platform-express': nest,
    '@nestjs/swagger': swagger[versions],
  };
}

export function compile(directory: string, ...options: string[]): Promise<string> {
  return node('node_modules/typescript/bin/tsc', ['--project', '.', ...options], directory);
}

/** Installs the packages of a project, and the tarballs. */
export async function installTarballs(directory: string, ...tarballs: string[]): Promise<void> {
  await run('npm', [...INSTALL, ...tarballs], directory);
}

/** Starts a host that was built. */
export function startBuiltHost(
  directory: string,
  { databaseUrl, messagesPort }: HostOptions,
): Promise<RunningHost> {
  return startProgram(directory, 'program.js', {
    DATABASE_URL: databaseUrl,
    MESSAGES_PORT: String(messagesPort),
  });
}

/**
 * Starts a program that prints its address, and resolves when it has done so. Throws with its output where it does not.
 */
export async function startProgram(
  directory: string,
  script: string,
  env: Readonly<Record<string, string>>,
): Promise<RunningHost> {
  const child = spawn(process.execPath, [script], { cwd: directory, env: environment(env) });
  return { url: await addressOf(child), close: () => endProcess(child) };
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = () => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`the host did not start:\n${output}`));
    };
    const timer = setTimeout(fail, START_LIMIT);
    child.once('error', fail).once('exit', fail);
    child.stderr?.on('data', (chunk) => (output += String(chunk)));
    child.stdout?.on('data', (chunk) => {
      output += String(chunk);
      const [address] = /http:\/\/\S+/.exec(output) ?? [];
      if (address === undefined) return;
      clearTimeout(timer);
      child.off('exit', fail);
      resolve(address);
    });
  });
}

async function writeJson(path: string, value: object): Promise<void> {
  await writeFile(path, JSON.stringify(value));
}
