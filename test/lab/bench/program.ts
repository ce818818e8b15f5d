import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { environment } from '../../support/environment.js';
import { endProcess, SERVE } from '../../support/service-process.js';
import { unusedPort } from '../../support/unused-port.js';

export const BASELINES = ['idiomatic', 'careful', 'bare'] as const;
export type Baseline = (typeof BASELINES)[number];
/** `older` is an earlier build of the service. */
export type ProgramName = 'service' | 'older' | Baseline;

/** The options of the start of a program. */
interface Start {
  readonly name: ProgramName;
  readonly databaseUrl: string;
  readonly token: string;
  /** Gets all that the program prints. */
  readonly logFile: string;
  /** The folder of the older build. */
  readonly older?: string | undefined;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Milliseconds that a start may take, and between two looks at it. */
const LIMITS = { start: 30_000, look: 5 };

/** One of the compared programs as a process of its own, on loopback. */
export class Program {
  private constructor(
    readonly name: ProgramName,
    readonly port: number,
    readonly token: string,
    private readonly child: ChildProcess,
  ) {}

  /** Starts the program and waits until it answers. Throws with its output where it does not. */
  static async start({ name, databaseUrl, token, logFile, older = '', env }: Start): Promise<Program> {
    const port = await unusedPort();
    const log = await open(logFile, 'a');
    const [options, main] = [SERVE.slice(0, -1), join(older, 'dist', 'src', 'main.js')];
    const own = { service: SERVE, older: [...options, main] };
    const files =
      name in own ? own[name as keyof typeof own] : [join(import.meta.dirname, 'baselines', `${name}.js`)];
    const child = spawn(process.execPath, files, {
      env: environment({
        NODE_ENV: 'production',
        DATABASE_URL: databaseUrl,
        HOST: '127.0.0.1',
        PORT: String(port),
        ...(!(name in own) && { ACCESS_TOKEN: token }),
        ...env,
      }),
      stdio: ['ignore', log.fd, log.fd],
    });
    await log.close();
    const program = new Program(name, port, token, child);
    try {
      for (const end = performance.now() + LIMITS.start; !(await program.answers());) {
        if (performance.now() > end) throw new Error(`${name} does not answer`);
        await delay(LIMITS.look);
      }
      return program;
    } catch (error) {
      await program.stop();
      throw new Error(`${String(error)}:\n${await readFile(logFile, 'utf8')}`, { cause: error });
    }
  }

  get pid(): number {
    const { exitCode, signalCode, pid } = this.child;
    if (exitCode !== null || signalCode !== null) throw new Error(`${this.name} has ended by itself`);
    return pid!;
  }

  async stop(): Promise<void> {
    await endProcess(this.child);
  }

  /** The baselines have no health check: any answer will do. Throws where it has ended. */
  private async answers(): Promise<boolean> {
    const answer = await fetch(`http://127.0.0.1:${this.port}/livez`).catch(() => undefined);
    return this.pid > 0 && answer !== undefined;
  }
}
