import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { reasonOf } from './embedded-postgres.error.js';

/** A program with its arguments and user. */
export interface Invocation {
  readonly file: string;
  readonly args: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

/** Environment variables in addition to the fixed ones. */
export type Environment = Readonly<Record<string, string>>;

// Programs do not inherit our environment: PGDATA, PGPORT or the locale would change their
// behavior.
const FIXED_ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };
/** The number of output lines that are kept. */
const MAX_LINES = 50;
/** The maximum time from the end of a program to the end of its output. */
const OUTPUT_TIMEOUT_MS = 500;

/** A running program, and the last lines of its output. */
export class Program {
  /** Resolves when program and output have ended; never rejects. After a signal, code is null. */
  readonly ended: Promise<{ code: number | null }>;

  private isRunning = true;
  private failure: string | undefined;
  private readonly lines: string[] = [];

  private constructor(
    private readonly child: ChildProcess,
    onLine: (line: string) => void,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream! }).on('line', (line) => {
        this.lines.push(line);
        if (this.lines.length > MAX_LINES) this.lines.shift();
        onLine(line);
      });
    }
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => {
        this.failure = error.message;
        if (child.pid !== undefined) return;
        this.isRunning = false;
        resolve({ code: null });
      });
      child.once('exit', (code, signal) => {
        this.isRunning = false;
        if (signal) this.failure = `it was ended by ${signal}`;
        // Waits for the last lines, but not for background processes that keep the pipes open.
        const timer = setTimeout(() => resolve({ code }), OUTPUT_TIMEOUT_MS);
        child.once('close', () => {
          clearTimeout(timer);
          resolve({ code });
        });
      });
    });
  }

  /**
   * Starts a program in its own session: Ctrl-C in a terminal then reaches only the service, which
   * stops the program when it no longer needs it.
   */
  static start(
    { file, args, uid, gid }: Invocation,
    environment: Environment,
    onLine: (line: string) => void = () => undefined,
  ): Program {
    const child = spawn(file, args, {
      cwd: '/',
      detached: true,
      env: { ...FIXED_ENVIRONMENT, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
    });
    return new Program(child, onLine);
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get running(): boolean {
    return this.isRunning;
  }

  /** The last lines of the output. */
  get output(): string {
    return this.lines.join('\n');
  }

  /** The reason of a failure, taken from the output. */
  get reason(): string {
    const fatal = this.lines.findLast((line) => /\b(FATAL|PANIC|error|could not)\b/.test(line));
    const line = this.failure ?? fatal ?? this.lines.at(-1) ?? 'it ended without output';
    return line.replace(/^.*?\b(FATAL|PANIC|error):\s+/, '').trim();
  }

  /** Sends a signal to the program, unless it has ended, but not to its children. */
  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) this.child.kill(signal);
  }

  /** Kills the program and all processes that it has started. */
  killAll(): void {
    if (!this.isRunning || this.child.pid === undefined) return;
    try {
      process.kill(-this.child.pid, 'SIGKILL');
    } catch {
      this.child.kill('SIGKILL');
    }
  }
}

/** Runs a program to its end. An abort kills it and rejects with the reason of the signal. */
export async function run(
  invocation: Invocation,
  environment: Environment,
  signal?: AbortSignal,
): Promise<{ ok: boolean; output: string; reason: string }> {
  signal?.throwIfAborted();
  let program: Program;
  try {
    program = Program.start(invocation, environment);
  } catch (error) {
    // Node throws if this process may not start programs as another user.
    return { ok: false, output: '', reason: reasonOf(error) };
  }
  const abort = () => program.killAll();
  signal?.addEventListener('abort', abort);
  const { code } = await program.ended;
  signal?.removeEventListener('abort', abort);
  signal?.throwIfAborted();
  return { ok: code === 0, output: program.output, reason: program.reason };
}
