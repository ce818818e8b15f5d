import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { environment } from '../../support/environment.js';
import { endProcess, SERVE } from '../../support/service-process.js';
import { unusedPort } from '../../support/unused-port.js';

export const PROGRAM_NAMES = ['service', 'idiomatic', 'careful', 'bare'] as const;
export type ProgramName = (typeof PROGRAM_NAMES)[number];

/** The options of the start of a program. */
interface Start {
  readonly name: ProgramName;
  readonly databaseUrl: string;
  readonly token: string;
  /** Gets all that the program prints. */
  readonly logFile: string;
  readonly signal: AbortSignal;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

const baseline = (name: ProgramName) => [join(import.meta.dirname, 'baselines', `${name}.js`)];
const FILES = {
  service: SERVE,
  idiomatic: baseline('idiomatic'),
  careful: baseline('careful'),
  bare: baseline('bare'),
};
/** Milliseconds that a start may take, and between two looks at it. */
const LIMITS = { start: 30_000, look: 5 };

/** A program under load. */
export interface Target {
  readonly name: ProgramName;
  readonly port: number;
  readonly token: string;
  /** The id of its process. */
  readonly pid: number;
}

/** One of the compared programs as a process of its own, on loopback. */
export class Program implements Target {
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
    const port = await unusedPort();
    const log = await open(logFile, 'a');
    const start = performance.now();
    const child = spawn(process.execPath, FILES[name], {
      env: environment({
        NODE_ENV: 'production',
        DATABASE_URL: databaseUrl,
        HOST: '127.0.0.1',
        PORT: String(port),
        ...(name !== 'service' && { ACCESS_TOKEN: token }),
        ...env,
      }),
      stdio: ['ignore', log.fd, log.fd],
    });
    await log.close();
    const program = new Program(name, port, token, child, NaN);
    try {
      while (!(await program.answers())) {
        signal.throwIfAborted();
        if (performance.now() - start > LIMITS.start) throw new Error(`${name} does not answer`);
        await delay(LIMITS.look);
      }
      return Object.assign(program, { startTime: performance.now() - start });
    } catch (error) {
      await program.stop();
      signal.throwIfAborted();
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
    const url = `http://127.0.0.1:${this.port}/livez`;
    const { ok } = await fetch(url).catch(() => ({ ok: undefined }));
    return this.pid > 0 && ok !== undefined && (ok || this.name !== 'service');
  }
}
