import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { eachMessage } from '../../../support/postgres-messages.js';

/** What a client sends that the server acts on: statements, and the rows of a COPY with their end. */
const STEPS = 'QEdc';
/** When a step is struck: while the server acts on it, and, where it comes again, when it has, and nobody was told. */
const MOMENTS = ['under way', 'answered'] as const;
/** Its rows tell how many migrations have run: the same text after another one is another step. */
const PROGRESS = /from "migrations"/i;
/** Where TypeORM looks around it changes nothing: whoever is struck there has done what was before, and no more. */
const LOOK = /^select (version\(\)|\* from (current_schema\(\)|"information_schema"))/i;

export interface Strikes {
  /** Called twice in each step. Until it resolves nothing else is struck. */
  readonly strike: (step: string) => Promise<void>;
  /** Which of all steps, by their text. */
  readonly isMeant?: (sql: string) => boolean;
  /** One step of so many is struck; the first one is chosen at random. */
  readonly oneOf?: number;
}

/**
 * Stands between a client and its database on a port of loopback, reads what the client asks, and strikes in each
 * statement that it has not struck in yet. So whoever is struck and begins anew comes one statement further.
 */
export class StatementProxy {
  /** What was struck, in order. */
  readonly struck: string[] = [];
  private readonly server: Server;
  private readonly pairs = new Set<Pair>();
  private readonly visits = new Map<string, number>();
  private strikes: Strikes | undefined;
  private turn = 0;
  private isCut = false;
  private underWay: Promise<void> | undefined;
  private failure: Error | undefined;
  private progress = '';

  private constructor(target: string) {
    this.server = createServer((client) => {
      if (this.isCut) return void client.destroy();
      const pair = new Pair(client, connect(target), {
        isStruck: (step) => this.isStruck(step),
        strike: (step) => this.strike(step),
        onRows: (sql, rows) => {
          if (PROGRESS.test(sql)) this.progress = String(rows);
        },
        onEnd: () => this.pairs.delete(pair),
      });
      this.pairs.add(pair);
    });
  }

  /** Path of the socket of a server. */
  static async before(target: string): Promise<StatementProxy> {
    const proxy = new StatementProxy(target);
    await once(proxy.server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  /** The URL of a database of the server that leads through here. */
  url(databaseUrl: string): string {
    const { port } = this.server.address() as AddressInfo;
    return databaseUrl.replace(/@[^/]+/, `@127.0.0.1:${port}`);
  }

  /** From now on. No step was struck before. */
  strikeEach(strikes: Strikes): void {
    this.strikes = strikes;
    this.visits.clear();
    this.struck.length = 0;
    this.failure = undefined;
    this.turn = Math.floor(Math.random() * (strikes.oneOf ?? 1));
  }

  /** Carries what the next client sends. */
  open(): void {
    this.isCut = false;
  }

  /** Strikes no more. */
  rest(): void {
    this.strikes = undefined;
  }

  /** Ends all connections and takes no more, as if the client had died by SIGKILL. */
  cut(): void {
    this.isCut = true;
    for (const pair of this.pairs) pair.end();
  }

  /** Resolves when nothing is struck at the moment; rejects with what a strike has thrown. */
  async calm(): Promise<void> {
    await this.underWay;
    if (this.failure) throw this.failure;
  }

  close(): void {
    this.server.close();
    this.cut();
  }

  private isStruck({ sql, name: step, isWithin }: Step): (typeof MOMENTS)[number] | undefined {
    const { strikes } = this;
    if (!strikes || this.underWay || LOOK.test(sql) || strikes.isMeant?.(sql) === false) return undefined;
    const name = isWithin ? `${this.progress} ${step}` : step;
    const visits = this.visits.get(name) ?? 0;
    const moment = MOMENTS[visits];
    if (moment === undefined) return undefined;
    this.visits.set(name, visits + 1);
    const isChosen = this.turn++ % (strikes.oneOf ?? 1) === 0;
    return isChosen ? moment : undefined;
  }

  private strike(step: string): void {
    this.struck.push(step);
    this.underWay = this.strikes!.strike(step)
      .catch((error: unknown) => (this.failure = error as Error))
      .then(() => (this.underWay = undefined));
  }
}

interface Step {
  readonly sql: string;
  readonly name: string;
  /** In a transaction. */
  readonly isWithin: boolean;
}

interface Watch {
  readonly isStruck: (step: Step) => (typeof MOMENTS)[number] | undefined;
  readonly strike: (step: string) => void;
  readonly onRows: (sql: string, rows: number) => void;
  readonly onEnd: () => void;
}

/** A connection of the client, and that to the server. */
class Pair {
  private isStarted = false;
  /** Nothing more is carried. */
  private isLost = false;
  private readonly prepared = new Map<string, string>();
  private sql = '';
  private readonly asked: { readonly sql: string; rows: number }[] = [];
  /** How often a text came since the transaction began; undefined outside of one. */
  private times: Map<string, number> | undefined;
  /** The step that is struck when the server has answered; it may still need the end of its request. */
  private awaited: { readonly name: string; isWhole: boolean } | undefined;

  constructor(
    private readonly client: Socket,
    private readonly upstream: Socket,
    private readonly watch: Watch,
  ) {
    for (const socket of [client, upstream]) {
      socket.on('error', () => undefined);
      socket.once('close', () => this.end());
    }
    const [isStart, isNoStart] = [() => !this.isStarted, () => false];
    eachMessage(client, isStart, (message) => this.ask(message));
    eachMessage(upstream, isNoStart, (message) => this.answer(message));
  }

  end(): void {
    this.isLost = true;
    this.client.destroy();
    this.upstream.destroy();
    this.watch.onEnd();
  }

  private ask(message: Buffer): void {
    if (this.isLost) return;
    const type = this.isStarted ? String.fromCharCode(message[0]!) : '';
    this.isStarted = true;
    if (this.awaited) {
      // Without the end of its request the server would not answer.
      if (type !== 'S' || this.awaited.isWhole) return;
      this.awaited.isWhole = true;
      this.send(message);
      return;
    }
    this.read(type, message);
    const step = STEPS.includes(type) && type !== '' ? this.stepOf(type) : undefined;
    const moment = step && this.watch.isStruck(step);
    if (step && (moment === 'under way' || (moment && type === 'd'))) {
      this.isLost = true;
      this.upstream.write(message);
      this.watch.strike(`under way: ${step.name}`);
      return;
    }
    if (step && moment) this.awaited = { name: step.name, isWhole: type !== 'E' };
    this.send(message);
  }

  private send(message: Buffer): void {
    if ('QSc'.includes(String.fromCharCode(message[0]!))) this.asked.push({ sql: this.sql, rows: 0 });
    this.upstream.write(message);
  }

  private answer(message: Buffer): void {
    if (this.isLost) return;
    const type = String.fromCharCode(message[0]!);
    if (type === 'D' && this.asked[0]) this.asked[0].rows++;
    // A COPY is asked for rows, and answers when it has them.
    const isReady = type === 'Z' || type === 'G';
    if (isReady) {
      const done = this.asked.shift();
      if (done) this.watch.onRows(done.sql, done.rows);
    }
    if (!this.awaited) this.client.write(message);
    else if (isReady && this.awaited.isWhole && this.asked.length === 0) {
      this.isLost = true;
      this.watch.strike(`answered: ${this.awaited.name}`);
    }
  }

  /** Learns which statement it is (PostgreSQL, message formats). */
  private read(type: string, message: Buffer): void {
    const [first = '', second = ''] = message.toString('utf8', 5).split('\0');
    if (type === 'Q') this.sql = first;
    else if (type === 'P') this.prepared.set(first, second);
    else if (type === 'B') this.sql = this.prepared.get(second) ?? '';
  }

  private stepOf(type: string): Step {
    const { sql } = this;
    if (/^\s*(begin|start transaction)/i.test(sql)) this.times = new Map();
    const times = this.times;
    const count = (times?.get(sql + type) ?? 0) + 1;
    times?.set(sql + type, count);
    if (/^\s*(commit|rollback)/i.test(sql)) this.times = undefined;
    const rows = { d: ' (rows)', c: ' (their end)' }[type] ?? '';
    return { sql, name: `${times ? `${count}: ` : ''}${sql}${rows}`, isWithin: times !== undefined };
  }
}
