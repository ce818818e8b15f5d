import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const PROJECT = join(import.meta.dirname, '..', '..', '..');

/** Ends a program that hangs; none is meant to take a tenth of it. */
const TIMEOUT_MS = 1_800_000;

/** Runs a program to its end and resolves with what it printed. Throws with all of that where it fails. */
export async function run(program: string, args: readonly string[], cwd = PROJECT): Promise<string> {
  const options = { cwd, timeout: TIMEOUT_MS, maxBuffer: 2 ** 24 };
  try {
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** Runs a script of Node, such as one of our own packages' programs. */
export function node(script: string, args: readonly string[], cwd?: string): Promise<string> {
  return run(process.execPath, [join(PROJECT, script), ...args], cwd);
}

/** Makes the packages for hosts in a directory, as `npm run pack:lib` does; resolves with the paths of the tarballs. */
export async function packLib(directory: string): Promise<[timeLogs: string, postgres: string]> {
  const [timeLogs, postgres] = (await node('src/embedding/pack.mjs', [directory])).trim().split('\n');
  return [timeLogs!, postgres!];
}

/** Makes the package of a workspace in a directory, as `npm pack` does; its tarball and the files in it. */
export async function packWorkspace(name: string, directory: string) {
  const args = ['pack', '--workspace', name, '--pack-destination', directory, '--json'];
  const packed = JSON.parse(await run('npm', args)) as [{ filename: string; files: { path: string }[] }];
  const [{ filename, files }] = packed;
  return { tarball: join(directory, filename), files: files.map(({ path }) => path) };
}
