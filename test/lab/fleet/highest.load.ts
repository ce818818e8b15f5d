import { createHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { Connection, type Listener } from '../bench/connection.js';
import { rawRequest } from '../../support/raw-http.js';
import { firstColumn, queryOnce } from '../../support/postgres-cluster.js';
import { describeWith } from '../describe-with.js';
import { PROGRAMS, TOKEN, useFleet } from './fleet.js';

const { MINUTES = '60' } = process.env;
/** Clients, half of them with keys; enough that a few more change nothing but how long each waits. */
const CLIENTS = 64;
const MINUTE = 60_000;
/** Milliseconds before a client tries again. */
const PAUSE = 20;

/** What all clients together have seen. */
class Sight {
  acknowledged = 0;
  refused = 0;
  closed = 0;
  /** Milliseconds: the longest time in which no create was acknowledged. */
  longestGap = 0;
  /** Microseconds. */
  readonly latencies = createHistogram();
  private last = performance.now();

  note(milliseconds: number): void {
    const now = performance.now();
    this.acknowledged++;
    this.latencies.record(Math.max(1, Math.round(milliseconds * 1_000)));
    this.longestGap = Math.max(this.longestGap, now - this.last);
    this.last = now;
  }
}

/** Creates one log after the other, each with the next number as its description, in a project of its own. */
class Client implements Listener {
  readonly projectId = crypto.randomUUID();
  /** Numbers that were sent once and not acknowledged: they may be stored. */
  readonly unknown: number[] = [];
  /** Answers that no load excuses. */
  readonly strange: string[] = [];
  private number = 0;
  private isOver = false;
  private isUnderWay = false;
  private finish: () => void = () => undefined;

  constructor(
    private readonly target: { readonly port: number; readonly host: string; readonly ca: string },
    private readonly isKeyed: boolean,
    private readonly sight: Sight,
  ) {}

  async start(): Promise<void> {
    const { port, ...over } = this.target;
    this.send(await Connection.open(port, this, over));
  }

  /** Resolves when nothing is under way; who has a key repeats the last one until it is acknowledged. */
  stop(): Promise<void> {
    this.isOver = true;
    return this.isUnderWay ? new Promise((resolve) => (this.finish = resolve)) : Promise.resolve();
  }

  get acknowledged(): number {
    return this.number - this.unknown.length;
  }

  answered(connection: Connection, status: number, milliseconds: number): void {
    if (status === 201) this.sight.note(milliseconds);
    else if (status === 503) this.sight.refused++;
    else this.strange.push(`status ${status}`);
    this.goOn(status === 201, connection);
  }

  failed(_connection: Connection, reason: string): void {
    this.sight.closed++;
    if (reason === 'more bytes than announced') this.strange.push(reason);
    this.goOn(false);
  }

  private goOn(isAcknowledged: boolean, connection?: Connection): void {
    if (!isAcknowledged && !this.isKeyed) this.unknown.push(this.number);
    const isSettled = isAcknowledged || !this.isKeyed;
    if (isSettled) this.number++;
    if (isSettled && this.isOver) {
      this.isUnderWay = false;
      connection?.close();
      this.finish();
    } else if (isAcknowledged && connection) this.send(connection);
    else void this.again(connection);
  }

  private async again(connection?: Connection): Promise<void> {
    await delay(PAUSE);
    if (connection) this.send(connection);
    else await this.start().catch(() => this.again());
  }

  private send(connection: Connection): void {
    this.isUnderWay = true;
    const date = `2026-01-${String((this.number % 28) + 1).padStart(2, '0')}`;
    const description = String(this.number);
    const body = JSON.stringify({ projectId: this.projectId, duration: 1.5, date, description });
    const head = rawRequest(
      'POST /api/v1/time-logs HTTP/1.1',
      'host: localhost',
      `authorization: Bearer ${TOKEN}`,
      ...(this.isKeyed ? [`idempotency-key: ${this.projectId} ${description}`] : []),
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
    );
    connection.send(Buffer.from(head + body));
  }
}

describeWith(...PROGRAMS)('the whole fleet', () => {
  const fleet = useFleet();
  const number = async (sql: string) => Number((await firstColumn(fleet.databaseUrl, `select ${sql}`))[0]);
  const wal = () => number(`pg_current_wal_lsn() - '0/0'`);
  const memory = async () =>
    (await Promise.all(fleet.instances.map((instance) => instance.memory()))).map(Math.round).join(', ');

  it(`keeps every create of ${MINUTES} minutes at the highest load, once`, async () => {
    const sight = new Sight();
    const clients = Array.from({ length: CLIENTS }, (_, index) => {
      const target = { port: fleet.ports.requests, host: `127.0.0.${(index % 2) + 1}`, ca: fleet.ca };
      return new Client(target, index % 4 < 2, sight);
    });
    const atStart = await memory();
    const walBefore = await wal();
    const begun = performance.now();
    await Promise.all(clients.map((client) => client.start()));
    let afterOne = '';
    for (let minute = 1; minute <= Number(MINUTES); minute++) {
      await delay(begun + minute * MINUTE - performance.now());
      if (minute === 1) afterOne = await memory();
      process.stderr.write(`after ${minute} minutes: ${sight.acknowledged} acknowledged\n`);
    }
    await Promise.all(clients.map((client) => client.stop()));
    const seconds = (performance.now() - begun) / 1_000;
    const written = (await wal()) - walBefore;

    const { lost, doubled } = await held(clients);
    const bytes = await number(`pg_total_relation_size('time_logs')`);
    const { acknowledged, refused, closed, latencies, longestGap } = sight;
    const figures = {
      acknowledged,
      'acknowledged a second': Math.round(acknowledged / seconds),
      'p50 and p99, ms': [50, 99].map((percent) => latencies.percentile(percent) / 1_000).join(', '),
      'longest time without one, s': longestGap / 1_000,
      ...{ refused, closed, lost, doubled },
      'WAL a create, bytes': Math.round(written / acknowledged),
      'table and indexes a log, bytes': Math.round(bytes / acknowledged),
      'memory at the start, after a minute, at the end, MB': [atStart, afterOne, await memory()].join('; '),
    };
    process.stderr.write(`${JSON.stringify(figures, undefined, 2)}\n`);
    expect(clients.flatMap(({ strange }) => strange)).toEqual([]);
    expect({ lost, doubled }).toEqual({ lost: 0, doubled: 0 });
    await fleet.verifyCounts();
  });

  /** How many acknowledged logs the table lacks, and how many it has too many. */
  async function held(clients: readonly Client[]): Promise<{ lost: number; doubled: number }> {
    let [lost, doubled] = [0, 0];
    for (const { projectId, acknowledged, unknown } of clients) {
      const [found] = await queryOnce<Record<'rows' | 'different' | 'known', number>>(
        fleet.databaseUrl,
        `select count(*)::int as rows, count(distinct description)::int as different,
                count(distinct description) filter (where description <> all ($2))::int as known
           from time_logs where project_id = $1`,
        [projectId, unknown.map(String)],
      );
      lost += acknowledged - found!.known;
      doubled += found!.rows - found!.different;
    }
    return { lost, doubled };
  }
});
