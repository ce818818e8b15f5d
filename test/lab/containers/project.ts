import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from '@jest/globals';
import { unusedPort } from '../../support/unused-port.js';
import { docker, kill, run } from './engine.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** The state of a container in the output of Docker. */
interface Container {
  readonly Id: string;
  readonly RestartCount: number;
  readonly State: {
    readonly Status: string;
    readonly ExitCode: number;
    readonly OOMKilled: boolean;
    readonly Health?: { readonly Status: string };
  };
  readonly HostConfig: { readonly Memory: number };
}

/**
 * A copy of the project in which the commands of the documents run as they are written: only the ports are free ones,
 * and containers, networks and volumes have names of their own.
 */
export class Project {
  private constructor(
    readonly folder: string,
    /** The ports that replace 3000 and 3001. */
    readonly ports: readonly [number, number],
    /** The options of `docker compose` that name its files. */
    private readonly files: readonly string[],
  ) {}

  static async copy(...files: string[]): Promise<Project> {
    const folder = await mkdtemp(join(tmpdir(), 'time-logs-containers-'));
    const ports = [await unusedPort(), await unusedPort()] as const;
    const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const { stdout } = await promisify(execFile)('git', list, { cwd: ROOT, maxBuffer: 1e8 });
    const names = stdout.split('\0').filter((name) => name !== '' && existsSync(join(ROOT, name)));
    for (const name of names) await cp(join(ROOT, name), join(folder, name));
    for (const name of names.filter((name) => /^(README\.md|docker\/.*(\.md|compose\.yaml))$/.test(name))) {
      const text = await readFile(join(folder, name), 'utf8');
      const moved = text.replaceAll(
        /(?<=(localhost|'127\.0\.0\.1):)300[01]/g,
        (port) => `${ports[Number(port) - 3000]}`,
      );
      await writeFile(join(folder, name), moved);
    }
    return new Project(folder, ports, files);
  }

  /** The commands in the blocks of a chapter of a document. */
  async commands(document: string, chapter: string): Promise<string[]> {
    const text = await readFile(join(this.folder, document), 'utf8');
    const part = text.split(/^(?=#+ )/m).find((each) => each.startsWith(`${chapter}\n`))!;
    return [...part.matchAll(/^```sh\n(.+?)^```/gms)].map(([, block]) => block!);
  }

  /** Runs commands of a shell in the project's root. */
  sh(commands: string): Promise<string> {
    return run('bash', ['--norc', '-euo', 'pipefail', '-c', commands], this.surroundings);
  }

  compose(...args: string[]): Promise<string> {
    return run('docker', ['compose', ...this.files, ...args], this.surroundings);
  }

  private get surroundings() {
    return { cwd: this.folder, env: { COMPOSE_PROJECT_NAME: basename(this.folder).toLowerCase() } };
  }

  /** Returns a setting of docker/.env. */
  async secret(name: string): Promise<string> {
    const text = await readFile(join(this.folder, 'docker', '.env'), 'utf8');
    return new RegExp(`^${name}=(.*)$`, 'm').exec(text)![1]!;
  }

  /** The containers of all services, or of some, by the names of their services. */
  async containers(...services: string[]): Promise<Map<string, Container>> {
    const ids = (await this.compose('ps', '--all', '--quiet', ...services)).trim().split('\n');
    const all = JSON.parse(await docker('inspect', ...ids)) as (Container & {
      Config: { Labels: Record<string, string> };
    })[];
    return new Map(all.map((each) => [each.Config.Labels['com.docker.compose.service']!, each]));
  }

  async container(service: string): Promise<Container> {
    return (await this.containers(service)).get(service)!;
  }

  /** Ends a service as the end of its machine would. */
  async kill(service: string): Promise<void> {
    await kill((await this.container(service)).Id);
  }

  async remove(): Promise<void> {
    await this.compose('down', '--volumes', '--timeout', '1');
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A copy for the tests of a file, whose options of `docker compose` name its files. */
export function useProject(...files: string[]): Project {
  const project = Object.create(Project.prototype) as Project;
  beforeAll(async () => void Object.assign(project, await Project.copy(...files)));
  afterAll(() => project.remove());
  return project;
}
