import { expect } from '@jest/globals';
import type { QueryRunner } from 'typeorm';
import { keepTimeLogPositions } from '../../../src/feed/index.js';
import { eventually } from '../eventually.js';
import {
  type Clock,
  type Move,
  type Movers,
  otherTransactions,
  type Place,
} from '../faults/support/moves.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { Copy, ROWS } from './copies.js';
import {
  closeInstances,
  follower,
  insert,
  type Instance,
  newLog,
  openInstances,
  type Reader,
  write,
} from '../../support/feed-traffic.js';
import { CHANGES } from './sql-writers.js';

/** Milliseconds of one time of writing, and for which the longest of its transactions is open. */
const LENGTH = 200;
const LONGEST = 100;

/** What becomes of logs beside. */
const CHANGED = ['insert and update', 'update', 'update of many', 'delete', 'insert'];

/** Each with a date in years in which nobody else writes: counts of others cannot be changed in an older snapshot. */
const LATE = [
  ['REPEATABLE READ', '1801-01-01'],
  ['SERIALIZABLE', '1901-01-01'],
] as const;

export type Lost = 'nothing' | 'newest' | 'all';

/** What happens between two times in which writers write and readers read; first some logs are lost. */
export type Step = { readonly lost?: Lost } & (
  | { readonly act: 'other writers' | 'new start' | 'rows come' }
  /** It goes where what is saved now can be brought; or that is saved alone; or it goes to what was saved last. */
  | ({ readonly act: 'move' | 'save' | 'go back' } & Way)
);
interface Way {
  readonly move: Move;
  readonly clock?: Clock;
  /** Makes sure that the table has the same number there, as that of two servers with the same history. */
  readonly isTableAlike?: boolean;
}

interface Saved extends Way {
  /** How often positions will have moved with the database when it is there. */
  readonly moves: number;
  readonly bring: () => Promise<Place>;
}

export async function forget(url: string, lost: Lost): Promise<void> {
  if (lost === 'nothing') return;
  const but = lost === 'newest' ? 'where position > (select min(position) from time_logs)' : '';
  await queryOnce(url, `delete from time_logs ${but}`);
}

const tableOf = ({ url }: Place) => queryOnce(url, `select 'time_logs'::regclass::oid as number`);

/** A database that moves while it is written, and its feed is read. */
export class FeedJourney {
  private instances: Instance[] = [];
  /** Transactions whose snapshots are from before positions moved last. */
  private late: { readonly runner: QueryRunner; readonly date: string }[] = [];
  private saved: Saved[] = [];
  private moves = 0;
  /** What events have told, wherever and whenever. */
  private readonly told = new Map<string, string>();
  private copies: readonly Copy[] = [];
  private readonly readers: readonly Reader[] = [1, 7, 1000].map((limit) => follower(this, limit));

  private constructor(
    private readonly movers: Movers,
    private place: Place,
  ) {}

  /** Takes the steps; whoever reads on has seen all logs that are there, each once, after every one of them. */
  static async take(movers: Movers, steps: readonly Step[]): Promise<void> {
    const journey = new FeedJourney(movers, await movers.create());
    try {
      journey.beginCopies();
      await journey.start();
      await journey.writeAndRead();
      for (const step of steps) {
        await journey.wake();
        await journey.step(step);
        await journey.writeAndRead();
      }
      await journey.wake();
      await journey.writeAndRead();
    } finally {
      await journey.end();
    }
  }

  /** That of the instance which the readers ask. */
  get feed() {
    return this.instances[0]!.feed;
  }

  private async writeAndRead(): Promise<void> {
    const end = performance.now() + LENGTH;
    await write(this.instances, [], () => performance.now() > end, LONGEST);
    for (const change of CHANGED)
      await this.instances[0]!.dataSource.transaction(({ queryRunner }) => CHANGES[change]!(queryRunner!));
    const rows = await queryOnce<{ id: string; row: string }>(this.place.url, ROWS);
    expect(rows.length).toBeGreaterThan(0);
    for (const { read, next } of this.readers) {
      await eventually(async () => {
        while ((await next()) > 0);
        const seen = new Set(read);
        expect([rows.filter(({ id }) => !seen.has(id)), seen.size]).toEqual([[], read.length]);
      });
    }
    const logs = Object.fromEntries(rows.map(({ id, row }) => [id, row]));
    for (const copy of this.copies)
      await eventually(async () => {
        await copy.readOn();
        expect(copy.rows).toEqual(logs);
      });
  }

  /** Copies of what is there: nobody tells what is undone. */
  private beginCopies(): void {
    this.copies = [1, 7, 1000].map((limit) => new Copy(this, limit, this.told));
  }

  private async step(step: Step): Promise<void> {
    const { url, cluster } = this.place;
    await forget(url, step.lost ?? 'nothing');
    if (step.act === 'other writers') return otherTransactions(url, 1_000);
    if (step.act === 'rows come') return this.rowsCome();
    await this.end();
    if ('move' in step) await this.go(step);
    else {
      await cluster.end('SIGINT');
      await cluster.start();
    }
    if (step.act === 'go back') this.beginCopies();
    await this.start();
  }

  private async start(): Promise<void> {
    this.instances = await openInstances(this.place.url);
    await this.fallAsleep();
    await Promise.all(this.instances.map(({ repository }) => repository.keepPositions()));
  }

  private async end(): Promise<void> {
    for (const { runner } of this.late.splice(0)) await runner.release();
    await closeInstances(this.instances.splice(0));
  }

  /** Positions move as at the end of a restore, twice, while the service runs. */
  private async rowsCome(): Promise<void> {
    const { dataSource } = this.instances[0]!;
    await this.fallAsleep();
    for (let times = 0; times < 2; times++)
      await dataSource.transaction(({ queryRunner }) => keepTimeLogPositions(queryRunner!));
    this.moves += 2;
  }

  private async fallAsleep(): Promise<void> {
    for (const [isolation, date] of LATE) {
      const runner = this.instances[1]!.dataSource.createQueryRunner();
      await runner.startTransaction(isolation);
      await runner.query('select from access_tokens');
      this.late.push({ runner, date });
    }
  }

  /** They write, and try to move positions. */
  private async wake(): Promise<void> {
    for (const { runner, date } of this.late.splice(0)) {
      await insert(runner, newLog(), date);
      await runner.query('savepoint before');
      await keepTimeLogPositions(runner).catch(() => runner.query('rollback to before'));
      await runner.commitTransaction();
      await runner.release();
    }
  }

  private async go({ act, ...way }: Way & { readonly act: string }): Promise<void> {
    // After the last move its extent is unknown (src/feed/README.md), and also during it if a clock is behind.
    const before = this.saved.findLast(
      ({ move, clock, moves }) => move === way.move && moves >= this.moves + (clock === 'behind' ? 1 : 0),
    );
    const to = (act === 'go back' ? before : undefined) ?? (await this.save(way));
    // Files can be started once.
    const isUsedUp = act !== 'save' && ['copy', 'recovery'].includes(way.move);
    this.saved = [...this.saved.filter((saved) => saved !== to), ...(isUsedUp ? [] : [to])];
    if (act === 'save') return;
    const was = this.place;
    [this.place, this.moves] = [await to.bring(), to.moves];
    if (way.isTableAlike) expect(await tableOf(this.place)).toEqual(await tableOf(was));
  }

  private async save(way: Way): Promise<Saved> {
    const bring = await this.movers.save(this.place, way.move, way.clock);
    return { ...way, moves: this.moves + (way.move === 'copy' ? 0 : 1), bring };
  }
}
