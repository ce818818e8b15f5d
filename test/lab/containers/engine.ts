import { execFile, spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect } from '@jest/globals';
import { eventually } from '../eventually.js';
import { Daemon } from '../fleet/daemon.js';

/** The folder of the images that our own engine keeps for the next run. */
const IMAGES_DIRECTORY = '/var/tmp/time-logs-containers';
const STAND_INS = join(import.meta.dirname, 'stand-ins.sh');

const succeeds = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
const hasEngine = succeeds('docker', 'info');
const canStartOne =
  process.getuid?.() === 0 &&
  ['docker', 'dockerd', 'debootstrap'].every((program) => succeeds('which', program));

/** `describe` where Docker answers (or podman, as DOCKER_HOST says), or where we can start it; else one line. */
export const describeWithDocker = hasEngine || canStartOne ? describe : describe.skip;
if (!hasEngine && !canStartOne)
  process.stderr.write(
    'skipped: tests of containers; no Docker answers, and to start one takes root, dockerd and debootstrap\n',
  );

/** The Docker that answers, with images of a registry; or one of our own, with stand-ins. */
export class Engine {
  private constructor(
    /** The environment of its client. */
    readonly env: Readonly<Record<string, string>>,
    private readonly daemon?: Daemon,
  ) {}

  static async start(): Promise<Engine> {
    // None of a developer's settings, which Compose would take for those of the service.
    const { PATH = '', HOME = '', POSTGRES_ENTRYPOINT, ...rest } = process.env;
    const named = Object.entries(rest).filter(([name]) => name.startsWith('DOCKER_'));
    const env = { PATH, HOME, ...Object.fromEntries(named) } as Record<string, string>;
    if (hasEngine) return new Engine(env);
    const config = join(IMAGES_DIRECTORY, 'config');
    await mkdir(config, { recursive: true });
    const host = `unix://${join(IMAGES_DIRECTORY, 'docker.sock')}`;
    const daemon = Daemon.start([
      'dockerd',
      ...[
        '--host',
        host,
        '--data-root',
        join(IMAGES_DIRECTORY, 'images'),
        '--exec-root',
        join(IMAGES_DIRECTORY, 'run'),
      ],
      ...['--pidfile', join(IMAGES_DIRECTORY, 'pid'), '--oom-score-adjust', '0'],
    ]);
    // The builder that needs no plugin.
    const own = { ...env, DOCKER_HOST: host, DOCKER_CONFIG: config, DOCKER_BUILDKIT: '0' };
    const engine = new Engine(own, daemon);
    try {
      await eventually(async () => {
        if (daemon.isRunning) await engine.run('docker', ['info']);
      });
      expect(daemon.isRunning ? '' : daemon.output).toBe('');
      // An interrupted run leaves containers, which would be started again.
      const left = (await engine.docker('ps', '--all', '--quiet')).split('\n').filter((id) => id !== '');
      if (left.length > 0) await engine.docker('rm', '--force', '--volumes', ...left);
      for (const kind of ['volume', 'network']) await engine.docker(kind, 'prune', '--force');
      await engine.run('bash', [STAND_INS, IMAGES_DIRECTORY], {
        ...(POSTGRES_ENTRYPOINT && { POSTGRES_ENTRYPOINT }),
      });
    } catch (error) {
      await daemon.end();
      throw error;
    }
    return engine;
  }

  /** Runs a program, and brings what it prints. */
  async run(program: string, args: readonly string[], env: object = {}, cwd?: string): Promise<string> {
    const { stdout } = await promisify(execFile)(program, args, {
      env: { ...this.env, ...env },
      maxBuffer: 1e8,
      ...(cwd !== undefined && { cwd }),
    });
    return stdout;
  }

  docker(...args: readonly string[]): Promise<string> {
    return this.run('docker', args);
  }

  /** The end of a machine, as it looks to the container: `docker kill` would count as the wish of an operator. */
  async kill(container: string): Promise<void> {
    const pid = (await this.docker('inspect', '--format', '{{.State.Pid}}', container)).trim();
    const image = (await this.docker('inspect', '--format', '{{.Image}}', container)).trim();
    const inHost = ['--pid', 'host', '--user', 'root', '--entrypoint', 'sh'];
    await this.docker('run', '--rm', ...inHost, image, '-c', `kill -9 ${pid}`);
  }

  async stop(): Promise<void> {
    await this.daemon?.end();
  }
}
