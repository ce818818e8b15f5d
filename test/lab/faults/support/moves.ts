import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { entities, migrations, backupMetadata, afterRestore } from '../../../../src/app.module.js';
import { backup, restore } from '../../../../libs/backup/src/index.js';
import { migrate } from '../../../../src/database/setup/index.js';
import { eventually } from '../../eventually.js';
import { firstColumn, PostgresCluster, queryOnce } from '../../../support/postgres-cluster.js';

/**
 * How a database comes to another server, or back to an earlier moment. A twin is a server that has made as many
 * transactions as the other one when that started last; a clone is made by a dump into another database of the server.
 */
export const MOVES = ['backup', 'dump', 'twin', 'clone', 'recovery', 'copy'] as const;
export type Move = (typeof MOVES)[number];
/** Those by which a clock comes along that may be behind: what a start has noted was noted later than now. */
export const MOVES_OF_NOTES: readonly Move[] = ['dump', 'twin', 'clone', 'recovery'];
export type Clock = 'right' | 'behind';

/** A database on a server. */
export interface Place {
  readonly cluster: PostgresCluster;
  readonly url: string;
}

/** Transactions by which the one server is ahead of the other: more than a test makes. */
const AHEAD = 100_000;

/** Somebody else makes transactions on a server. */
export async function otherTransactions(url: string, count: number): Promise<void> {
  await queryOnce(
    url,
    `do $$ begin for n in 1..${count} loop perform pg_current_xact_id(); commit; end loop; end $$`,
  );
}

interface Dumped {
  readonly shift: string;
  readonly note: string | null;
  readonly transactions: string;
  readonly rows: readonly string[];
}

const report = () => undefined;
/** What pg_dump has of the feed beside rows: the default of the column, and the comment of the function. */
const SHIFT = `pg_get_expr(adbin, adrelid)`;
const NOTE = `obj_description('keep_time_log_positions()'::regprocedure, 'pg_proc')`;
/** As if it had been written in 2100. */
const LATE_NOTE = `regexp_replace(${NOTE}, 'At \\d+', 'At 4102444800')`;

/** Servers between which a database moves. */
export class Movers {
  private readonly clusters: PostgresCluster[] = [];
  private files = 0;

  private constructor(
    private readonly directory: string,
    private readonly source: PostgresCluster,
    /** It has made fewer transactions, and never catches up. */
    private readonly target: PostgresCluster,
    private readonly twin: PostgresCluster,
  ) {
    this.clusters.push(source, target, twin);
  }

  static async start(): Promise<Movers> {
    const directory = await mkdtemp(join(tmpdir(), 'moves-'));
    const create = () => PostgresCluster.create();
    const [source, target, twin] = await Promise.all([create(), create(), create()]);
    await otherTransactions(source.url, AHEAD);
    return new Movers(directory, source, target, twin);
  }

  /** A new migrated database, before its first move. */
  create(): Promise<Place> {
    return this.migrated(this.source);
  }

  /** Saves a database as it is. Returns what brings it to another server, or back to this moment. */
  async save(place: Place, move: Move, clock: Clock = 'right'): Promise<() => Promise<Place>> {
    const { cluster } = place;
    const saves: Record<Move, () => Promise<() => Promise<Place>>> = {
      backup: () => this.saveRows(place),
      dump: () => this.saveDump(place, clock, () => this.migrated(this.target)),
      twin: () => this.saveDump(place, clock, (transactions) => this.migratedTwin(transactions)),
      clone: () => this.saveDump(place, clock, () => this.migrated(cluster)),
      recovery: () => this.saveFiles(place, clock, () => cluster.createRecovery()),
      copy: () => this.saveFiles(place, clock, () => cluster.copy()),
    };
    return saves[move]();
  }

  async remove(): Promise<void> {
    for (const cluster of this.clusters) await cluster.remove();
    await rm(this.directory, { recursive: true });
  }

  private async migrated(cluster: PostgresCluster): Promise<Place> {
    const url = await cluster.createDatabase();
    await migrate({ url, migrations });
    return { cluster, url };
  }

  private async saveRows({ url }: Place): Promise<() => Promise<Place>> {
    const file = join(this.directory, String((this.files += 1)));
    await backup({ url, entities, migrations, backupMetadata, file, report });
    return async () => {
      const place = await this.migrated(this.target);
      await restore({ url: place.url, entities, migrations, afterRestore, file, report });
      return place;
    };
  }

  /** As pg_dump does it; test/upgrade/pg-dump.e2e.ts has the program itself. */
  private async saveDump(
    { url }: Place,
    clock: Clock,
    create: (transactions: number) => Promise<Place>,
  ): Promise<() => Promise<Place>> {
    const tables = ['time_logs', 'time_log_deletions', 'time_log_relays'];
    const [dumped] = await queryOnce<Dumped>(
      url,
      `select ${SHIFT} as shift, ${clock === 'right' ? NOTE : LATE_NOTE} as note,
              substring(${NOTE} from '(\\d+)[.]$')::bigint
                - coalesce(substring(${SHIFT} from '''(\\d+)''')::bigint, 0) as transactions,
              array[${tables.map((table) => `(select coalesce(json_agg(t), '[]')::text from ${table} t)`).join()}] as rows
         from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
        where adrelid = 'time_logs'::regclass and attname = 'position'`,
    );
    const { shift, note, transactions, rows } = dumped!;
    return async () => {
      const place = await create(Number(transactions));
      await queryOnce(place.url, `alter table time_logs alter column position set default ${shift}`);
      if (note !== null) await writeNote(place, note);
      for (const [index, table] of tables.entries())
        await queryOnce(
          place.url,
          `insert into ${table} select * from json_populate_recordset(null::${table}, $1::json)`,
          [rows[index]],
        );
      return place;
    };
  }

  private async saveFiles(
    place: Place,
    clock: Clock,
    copy: () => Promise<PostgresCluster>,
  ): Promise<() => Promise<Place>> {
    const [note, late] = (await firstColumn(place.url, `values (${NOTE}), (${LATE_NOTE})`)) as [
      string,
      string,
    ];
    if (clock === 'behind') await writeNote(place, late);
    const cluster = await copy();
    this.clusters.push(cluster);
    await writeNote(place, note);
    return async () => {
      await cluster.start();
      const isRecovering = 'select pg_is_in_recovery() as is';
      await eventually(async () => expect(await cluster.query(isRecovering)).toEqual([{ is: false }]));
      return { cluster, url: cluster.on(place.url) };
    };
  }

  private async migratedTwin(transactions: number): Promise<Place> {
    const twin = await this.migrated(this.twin);
    const [made] = await firstColumn(twin.url, 'select pg_current_xact_id()::text');
    await otherTransactions(twin.url, Math.max(0, transactions - Number(made)));
    return twin;
  }
}

async function writeNote({ url }: Place, note: string): Promise<void> {
  await queryOnce(url, `comment on function keep_time_log_positions() is '${note}'`);
}
