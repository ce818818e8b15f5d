import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe } from '@jest/globals';

const hasEngine = spawnSync('docker', ['info']).status === 0;

/** `describe` where Docker answers, or podman, as DOCKER_HOST says; else one line. */
export const describeWithDocker = hasEngine ? describe : describe.skip;
if (!hasEngine) process.stderr.write('skipped: tests of containers; no Docker answers\n');

/** Runs a program without a developer's settings, which Compose would take for the service's; brings its output. */
export async function run(
  program: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd?: string; readonly env?: object } = {},
): Promise<string> {
  const { PATH = '', HOME = '', ...rest } = process.env;
  const named = Object.entries(rest).filter(([name]) => name.startsWith('DOCKER_'));
  const options = { cwd, env: { PATH, HOME, ...Object.fromEntries(named), ...env }, maxBuffer: 1e8 };
  return (await promisify(execFile)(program, args, options)).stdout;
}

export function docker(...args: readonly string[]): Promise<string> {
  return run('docker', args);
}

/** The end of a machine, as it looks to the container: `docker kill` would count as the wish of an operator. */
export async function kill(container: string): Promise<void> {
  const pid = (await docker('inspect', '--format', '{{.State.Pid}}', container)).trim();
  const image = (await docker('inspect', '--format', '{{.Image}}', container)).trim();
  const inHost = ['--pid', 'host', '--user', 'root', '--entrypoint', 'sh'];
  await docker('run', '--rm', ...inHost, image, '-c', `kill -9 ${pid}`);
}
