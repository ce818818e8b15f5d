import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readFile } from 'node:fs/promises';

/** Milliseconds that a server may take to end, before it is killed. */
const STOP_TIMEOUT_MS = 60_000;

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The account that Debian's packages of PostgreSQL make, for servers that refuse root. */
export async function postgresAccount(): Promise<Owner> {
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+)/m.exec(await readFile('/etc/passwd', 'utf8'))!;
  return { uid: Number(uid), gid: Number(gid) };
}

const isRoot = process.getuid?.() === 0;

/** Hands a folder over to the account as which a server will run. */
export async function give(folder: string, { uid, gid }: Owner): Promise<void> {
  if (isRoot) await chown(folder, uid, gid);
}

/** A server of the tests, in the foreground. */
export class Daemon {
  private readonly chunks: string[] = [];
  /** Resolves with the exit code, if it has one. */
  readonly ended: Promise<number | null>;

  private constructor(private readonly child: ChildProcess) {
    this.ended = once(child, 'exit').then(([code]) => code as number | null);
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk) => this.chunks.push(String(chunk)));
  }

  /**
   * Starts a program; where we are root, as the user who is named: some servers refuse root. That user may not enter
   * the folder of the project, so it starts in one that everybody can.
   */
  static start(
    [program, ...args]: readonly [string, ...string[]],
    env: Readonly<Record<string, string>> = {},
    owner?: Owner,
  ): Daemon {
    const [command, ...before] =
      owner && isRoot
        ? ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', program]
        : [program];
    const { PATH = '' } = process.env;
    const options = { cwd: '/', env: { PATH, ...env } };
    return new Daemon(
      spawn(command, [...before, ...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'] }),
    );
  }

  /** All that it has printed. */
  get output(): string {
    return this.chunks.join('');
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Sends a signal and waits for the end, which comes by SIGKILL where it takes too long. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (!this.isRunning) return;
    this.child.kill(signal);
    const killing = setTimeout(() => this.child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await this.ended;
    clearTimeout(killing);
  }
}
