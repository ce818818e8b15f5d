import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { reasonOf } from './embedded-postgres.error.js';

/** A program and how it is to be started. */
export interface Invocation {
  readonly file: string;
  readonly args: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

/** Variables that a program gets besides the fixed ones. */
export type Environment = Readonly<Record<string, string>>;

// Nothing of the service's own environment: PGDATA, PGPORT or a language of its user would change what PostgreSQL does.
const FIXED_ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };

/** A started program, with the last line of its output at hand. */
export class Program {
  /** Resolves, never rejects, when the program and its output have ended; the exit code is null after a signal. */
  readonly ended: Promise<{ code: number | null }>;

  #running = true;
  #failure: string | undefined;
  readonly #lines: string[] = [];

  private constructor(
    private readonly child: ChildProcess,
    onLine: (line: string) => void,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream! }).on('line', (line) => {
        this.#lines.push(line);
        if (this.#lines.length > 50) this.#lines.shift();
        onLine(line);
      });
    }
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => {
        this.#failure = error.message;
        if (child.pid !== undefined) return;
        this.#running = false;
        resolve({ code: null });
      });
      child.once('exit', (code, signal) => {
        this.#running = false;
        if (signal) this.#failure = `it was ended by ${signal}`;
        // The last lines may still be on their way; a background process of PostgreSQL may hold the pipes for longer.
        const overdue = setTimeout(() => resolve({ code }), 500);
        child.once('close', () => {
          clearTimeout(overdue);
          resolve({ code });
        });
      });
    });
  }

  /**
   * Starts a program in a session of its own, so that Ctrl-C in a terminal reaches only the service, which then
   * stops the program in its own time.
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
    return this.#running;
  }

  /** All that is kept of the output. */
  get output(): string {
    return this.#lines.join('\n');
  }

  /** The line of the output that most likely tells why the program failed. */
  get reason(): string {
    const fatal = this.#lines.findLast((line) => /\b(FATAL|PANIC|error|could not)\b/.test(line));
    const line = this.#failure ?? fatal ?? this.#lines.at(-1) ?? 'it ended without a word';
    return line.replace(/^.*?\b(FATAL|PANIC|error):\s+/, '').trim();
  }

  /** Sends a signal to the program alone; nothing happens once it has ended. */
  signal(signal: NodeJS.Signals): void {
    if (this.#running) this.child.kill(signal);
  }

  /** Kills the program with all it has started. */
  killAll(): void {
    if (!this.#running || this.child.pid === undefined) return;
    try {
      process.kill(-this.child.pid, 'SIGKILL');
    } catch {
      this.child.kill('SIGKILL');
    }
  }
}

/** Runs a program to its end; an abort kills it and rejects with the signal's reason. */
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
    // Node throws at once when this user may not take on the other's number.
    return { ok: false, output: '', reason: reasonOf(error) };
  }
  const abort = () => program.killAll();
  signal?.addEventListener('abort', abort);
  const { code } = await program.ended;
  signal?.removeEventListener('abort', abort);
  signal?.throwIfAborted();
  return { ok: code === 0, output: program.output, reason: program.reason };
}
