import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { migrations } from '../../../../src/app.module.js';
import { migrate } from '../../../../src/database/setup/index.js';
import { type CommandName, runHere } from '../../../support/commands-here.js';
import { isAll } from '../../../support/extent.js';
import { PostgresCluster } from '../../../support/postgres-cluster.js';
import { StatementProxy, type Strikes } from './statement-proxy.js';

/** Whoever dies; of a client the database sees the end of its connections, whatever the reason. */
export const VICTIMS = ['server', 'client'] as const;
type Victim = (typeof VICTIMS)[number];

/** Of how many steps one is struck: each in the full run, one of so many in CI. */
export const oneOf = (many: number) => (isAll ? 1 : many);

/** A server for the tests of a file: its members are there from the first of them on. */
export function useStruckServer(): StruckServer {
  const server = Object.create(StruckServer.prototype) as StruckServer;
  beforeAll(async () => void Object.assign(server, await StruckServer.start()));
  afterAll(() => server.remove());
  return server;
}

/** A server whose databases are reached through a proxy that strikes. */
class StruckServer {
  private constructor(
    readonly cluster: PostgresCluster,
    readonly proxy: StatementProxy,
  ) {}

  static async start(): Promise<StruckServer> {
    // Its processes die, and not the machine: nothing that they have written is lost with them.
    const cluster = await PostgresCluster.create({ fsync: 'off' });
    return new StruckServer(cluster, await StatementProxy.before(cluster.socket));
  }

  async createMigrated(): Promise<string> {
    const url = await this.cluster.createDatabase();
    await migrate({ url, migrations });
    return url;
  }

  async remove(): Promise<void> {
    this.proxy.close();
    await this.cluster.remove();
  }

  /** Ends the victim, a server by SIGKILL of its postmaster or by an immediate stop, and starts it again. */
  async kill(victim: Victim): Promise<void> {
    if (victim === 'client') {
      this.proxy.cut();
      return;
    }
    await this.cluster.end(randomInt(2) === 0 ? 'SIGKILL' : 'SIGQUIT');
    await this.cluster.start();
  }

  /**
   * Acts again whenever the act was struck, until it was not; its outcome then. `meanwhile` follows each strike. What
   * fails without a strike, or in more than a line, is a fault.
   */
  async comeThrough<T>(
    victim: Victim | (() => Promise<unknown>),
    act: () => Promise<T>,
    {
      undo = () => Promise.resolve(),
      meanwhile = () => Promise.resolve(),
      ...which
    }: Omit<Strikes, 'strike'> & {
      /** Ends what came to be although it was struck. */
      readonly undo?: (outcome: T) => Promise<unknown>;
      readonly meanwhile?: () => Promise<unknown>;
    },
  ): Promise<T> {
    const { proxy } = this;
    const kill = async () => {
      await (typeof victim === 'function' ? victim() : this.kill(victim));
      await meanwhile();
    };
    proxy.strikeEach({ ...which, strike: kill });
    try {
      for (;;) {
        const before = proxy.struck.length;
        proxy.open();
        const [attempt] = await Promise.allSettled([act()]);
        await proxy.calm();
        const isStruck = proxy.struck.length > before;
        if (attempt.status === 'fulfilled') {
          if (!isStruck) {
            expect(proxy.struck).not.toEqual([]);
            return attempt.value;
          }
          await undo(attempt.value);
        } else {
          if (!isStruck) throw attempt.reason;
          expect((attempt.reason as Error).message.trim()).toMatch(/^.+$/);
        }
      }
    } finally {
      proxy.rest();
      proxy.open();
    }
  }
}

/** What a command prints on a database. Throws the line that it ends with where it fails. */
export async function resultOf(name: CommandName, args: readonly string[], url: string): Promise<string> {
  const { code, stdout, stderr } = await runHere(name, args, { DATABASE_URL: url });
  if (code === 0) return stdout;
  // Before its last line it may tell how far it is.
  throw new Error(/[^\r\n]+$/.exec((stdout + stderr).trim())?.[0]);
}
