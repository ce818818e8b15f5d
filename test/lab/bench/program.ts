import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { environment } from '../../support/environment.js';

export const PROGRAM_NAMES = ['service', 'idiomatic', 'careful', 'bare'] as const;
export type ProgramName = (typeof PROGRAM_NAMES)[number];

/** What a program is started with. */
export interface Start {
  readonly name: ProgramName;
  readonly databaseUrl: string;
  readonly token: string;
  /** Gets all that the program prints. */
  readonly logFile: string;
  readonly signal: AbortSignal;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

const COMPILED = join(import.meta.dirname, '..', '..', '..');
const FILES = {
  // With the young generation of npm start.
  service: ['--max-semi-space-size=16', join(COMPILED, 'src', 'main.js')],
  idiomatic: [join(import.meta.dirname, 'baselines', 'idiomatic.js')],
  careful: [join(import.meta.dirname, 'baselines', 'careful.js')],
  bare: [join(import.meta.dirname, 'baselines', 'bare.js')],
};
/** Milliseconds. */
const LIMITS = { start: 30_000, stop: 15_000, look: 5 };

/** One of the compared programs as a process of its own, on loopback. */
export class Program {
  private constructor(
    readonly name: ProgramName,
    readonly port: number,
    readonly token: string,
    private readonly child: ChildProcess,
    /** Milliseconds until it answered its first request. */
    readonly startTime: number,
  ) {}

  /** Starts the program and waits until it answers. Throws with its output where it does not. */
  static async start({ name, databaseUrl, token, logFile, signal, env }: Start): Promise<Program> {
    const port = await freePort();
    const log = await open(logFile, 'a');
    const start = performance.now();
    const child = spawn(process.execPath, FILES[name], {
      env: {
        ...environmentOn(databaseUrl),
        HOST: '127.0.0.1',
        PORT: String(port),
        ...(name !== 'service' && { ACCESS_TOKEN: token }),
        ...env,
      },
      stdio: ['ignore', log.fd, log.fd],
    });
    await log.close();
    try {
      while (!(await answers(port, name === 'service'))) {
        signal.throwIfAborted();
        if (hasEnded(child)) throw new Error(`${name} has ended`);
        if (performance.now() - start > LIMITS.start) throw new Error(`${name} does not answer`);
        await delay(LIMITS.look);
      }
    } catch (error) {
      await endProcess(child);
      signal.throwIfAborted();
      throw new Error(`${String(error)}:\n${await readFile(logFile, 'utf8')}`, { cause: error });
    }
    return new Program(name, port, token, child, performance.now() - start);
  }

  get pid(): number {
    if (hasEnded(this.child)) throw new Error(`${this.name} ended by itself in the middle of the run`);
    return this.child.pid!;
  }

  /** Ends the process, gently at first. */
  stop(): Promise<void> {
    return endProcess(this.child);
  }
}

/** Runs a command of the service, as its users do, and returns what it prints. */
export async function runCommand(
  command: string,
  args: readonly string[],
  databaseUrl: string,
): Promise<string> {
  const file = join(COMPILED, 'src', 'commands', `${command}.command.js`);
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...args], {
    env: environmentOn(databaseUrl),
  });
  return stdout;
}

/** A token for the service, in its database; for some projects, or for all. */
export async function makeToken(databaseUrl: string, projects: readonly string[] = []): Promise<string> {
  const binding = projects.flatMap((project) => ['--project', project]);
  const output = await runCommand('token', ['create', '--name', 'bench', ...binding], databaseUrl);
  return output.trimEnd().split('\n').at(-1)!;
}

function environmentOn(databaseUrl: string): NodeJS.ProcessEnv {
  return environment({ NODE_ENV: 'production', DATABASE_URL: databaseUrl });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** The baselines have no health check: any answer will do. */
function answers(port: number, mustBeWell: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/livez', agent: false }, (response) => {
      response.resume();
      resolve(!mustBeWell || response.statusCode === 200);
    });
    request.on('error', () => resolve(false));
  });
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

async function endProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const overdue = setTimeout(() => child.kill('SIGKILL'), LIMITS.stop);
  await exit;
  clearTimeout(overdue);
}
