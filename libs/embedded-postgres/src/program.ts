import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A program with its arguments and user. */
export interface Invocation {
  readonly file: string;
  readonly args: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

/** Environment variables in addition to the fixed ones. */
export type Environment = Readonly<Record<string, string>>;

// Programs do not inherit our environment: PGDATA, PGPORT or the locale would change their behavior.
const FIXED_ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };
/** The number of output lines that are kept. */
const MAX_LINES = 50;
/** The maximum time from the end of a program to the end of its output, which its children may hold open. */
const OUTPUT_TIMEOUT_MS = 500;

/** A running program, and the last lines of its output. */
export class Program {
  /** Resolves with the exit code when program and output have ended; never rejects. After a signal it is null. */
  readonly ended: Promise<number | null>;
  running = true;
  private failure: string | undefined;
  private readonly child: ChildProcess;
  private readonly lines: string[] = [];

  /** Starts a program in its own session, which Ctrl-C in a terminal does not reach. */
  constructor(
    { file, args, ...user }: Invocation,
    environment: Environment,
    onLine: (line: string) => void = () => undefined,
  ) {
    const env = { ...FIXED_ENVIRONMENT, ...environment };
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const child = spawn(file, args, { cwd: '/', detached: true, env, stdio: [...stdio], ...user });
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        this.lines.push(line);
        if (this.lines.length > MAX_LINES) this.lines.shift();
        onLine(line);
      });
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, failure?: string) => {
        this.running = false;
        this.failure ??= failure;
        child.once('close', () => resolve(code));
        setTimeout(() => resolve(code), OUTPUT_TIMEOUT_MS).unref();
      };
      child.once('exit', (code, signal) => end(code, signal ? `it was ended by ${signal}` : undefined));
      // The program has not started. A signal that could not be sent is an error, too.
      child.on('error', ({ message }) => {
        if (child.pid === undefined) end(null, message);
      });
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
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
    if (this.running) this.child.kill(signal);
  }
}

/** Runs a program to its end. */
export async function run(
  invocation: Invocation,
  environment: Environment,
): Promise<{ ok: boolean; output: string; reason: string }> {
  try {
    const program = new Program(invocation, environment);
    const code = await program.ended;
    return { ok: code === 0, output: program.output, reason: program.reason };
  } catch (error) {
    // Node throws if this process may not start programs as another user.
    return { ok: false, output: '', reason: reasonOf(error) };
  }
}

/** The error if PostgreSQL does not run. Its message is one line that says what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** Returns the message of an error on one line. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().replace(/\s*\n\s*/g, ' ');
}
