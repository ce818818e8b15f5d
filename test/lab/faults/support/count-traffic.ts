import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { connected } from '../../../support/postgres-cluster.js';

const LEVELS = ['read committed', 'repeatable read', 'serializable'] as const;
const PROJECTS = Array.from({ length: 20 }, () => randomUUID());
/** The first and last days of counts, and days in the midst of which most logs are. */
const EDGES = ['0001-01-01', '0009-12-31', '0010-01-01', '1999-12-31', '9999-12-31'];
const FIRST_DAY = '2019-12-15';
const DAYS = 60;
const DURATIONS = ['1.5', '0.25', '1e-20', '3', '12345.678'];
/** Milliseconds for which a transaction or a snapshot is left open, now and then. */
const LONGEST_MS = 300;

const one = <T>(all: readonly T[]): T => all[randomInt(all.length)]!;
const day = () =>
  randomInt(20) === 0 ? `date '${one(EDGES)}'` : `(date '${FIRST_DAY}' + ${randomInt(DAYS)})`;

/** Inserts logs, each with a project and a day of its own. */
const insertion = (logs: number) =>
  `insert into time_logs (id, project_id, duration, description, date)
   select overlay(gen_random_uuid()::text placing '7' from 15)::uuid, ('{${PROJECTS.join()}}'::uuid[])[1 + floor(random() * ${PROJECTS.length})],
          ${one(DURATIONS)}, '', ${logs === 1 ? day() : `date '${FIRST_DAY}' + floor(random() * ${logs > 4096 ? 3_000 : DAYS})::integer`}
     from generate_series(1, ${logs})`;
/** The logs of a project that nobody else holds, at most this many. */
const some = (most: number) =>
  `id in (select id from time_logs where project_id = '${one(PROJECTS)}' order by date offset ${randomInt(10)}
           limit ${1 + randomInt(most)} for update skip locked)`;

const STATEMENTS: readonly (readonly [weight: number, statement: () => string])[] = [
  [45, () => insertion(1)],
  [15, () => insertion(one([2, 32, 300]))],
  [1, () => insertion(5_000)],
  [15, () => `update time_logs set date = ${day()}, project_id = '${one(PROJECTS)}' where ${some(5)}`],
  [5, () => `update time_logs set duration = ${one(DURATIONS)} where ${some(300)}`],
  [18, () => `delete from time_logs where ${some(60)}`],
  [2, () => `delete from time_logs where date > '2020-02-08'`],
];
const WEIGHTED = STATEMENTS.flatMap(([weight, statement]) => Array<() => string>(weight).fill(statement));
/** A statement that changes logs. */
const statement = () => one(WEIGHTED)();

const LOGS = `(select * from time_logs where ($1::uuid[] is null or project_id = any ($1))
  and ($2::date is null or date >= $2) and ($3::date is null or date <= $3)) log`;
const SUM = 'count(*)::text as n, trim_scale(coalesce(sum(duration), 0))::text as duration';
const COUNTED = 'n::text, trim_scale(duration)::text as duration, groups::text';
const byPeriod = (grouping: string) =>
  [
    `select null as first_day, null as last_day, ${SUM}, count(distinct date_trunc('${grouping}', date::timestamp))::text as groups from ${LOGS}
     union all
     (select greatest(begins, coalesce($2, begins))::text,
             least((begins + interval '1 ${grouping}')::date - 1, coalesce($3, '9999-12-31'))::text, ${SUM}, null
        from (select date_trunc('${grouping}', date::timestamp)::date as begins, duration from ${LOGS}) log
       group by begins order by begins desc)`,
    `select first_day::text, last_day::text, ${COUNTED} from page_time_log_group_sums($1, $2, $3, '${grouping}', 0, 100000)`,
  ] as const;
/** What readers return, by the logs themselves and by the counts: of projects, from, to. */
const READS = {
  sum: [
    `select ${SUM} from ${LOGS}`,
    'select n::text, trim_scale(duration)::text as duration from sum_time_logs($1, $2, $3)',
  ],
  'sums by project': [
    `select null::uuid as project_id, ${SUM}, count(distinct project_id)::text as groups from ${LOGS}
     union all (select project_id, ${SUM}, null from ${LOGS} group by 1 order by sum(duration) desc, 1)`,
    `select project_id, ${COUNTED} from page_time_log_project_sums($1, $2, $3, 0, 100000)`,
  ],
  'sums by day': byPeriod('day'),
  'sums by week': byPeriod('week'),
  'sums by month': byPeriod('month'),
} as const;
const PAGE = [
  `select count(*)::text as total, null::uuid as id from ${LOGS}
   union all (select null, id from ${LOGS} order by date desc, id desc offset $4::bigint limit 20)`,
  'select total::text, (log).id from page_time_logs($1, $2, $3, $4, 20)',
] as const;

/** Clients that write, fold and read at the same time until the end. */
export class CountTraffic {
  /** How often a reader's answer was held against the logs. */
  compared = 0;
  /** How many folds have moved something. */
  folds = 0;
  readonly differences: string[] = [];
  private isOver = false;

  constructor(
    private readonly url: string,
    /** Where readers read; they write nothing on a standby. */
    private readonly readerUrl = url,
  ) {}

  /** Runs until readers have compared a number of answers, or one differs. */
  async run(comparisons: number): Promise<void> {
    const readers = Array.from({ length: 4 }, () => this.onConnection(this.readerUrl, (c) => this.read(c)));
    const others = [
      ...Array.from({ length: 8 }, () => this.onConnection(this.url, (c) => this.write(c))),
      ...Array.from({ length: 2 }, () => this.onConnection(this.url, (c) => this.fold(c))),
    ];
    const end = async () => {
      while (!this.isOver && this.compared < comparisons && this.differences.length === 0) await delay(20);
      this.isOver = true;
    };
    await Promise.all([end(), ...readers, ...others]);
  }

  private async onConnection(url: string, act: (client: pg.Client) => Promise<void>): Promise<void> {
    const client = await connected(url);
    try {
      while (!this.isOver) {
        try {
          await act(client);
        } catch (error) {
          await client.query('rollback');
          // Others wrote the same rows, or a standby has replayed their end.
          if (!String((error as { code?: unknown }).code).startsWith('40')) throw error;
        }
      }
    } finally {
      this.isOver = true;
      await client.end();
    }
  }

  private async write(client: pg.Client): Promise<void> {
    await client.query(`begin isolation level ${one(LEVELS)}`);
    for (let left = 1 + randomInt(3); left > 0; left--) {
      const isPart = randomInt(5) === 0;
      if (isPart) await client.query('savepoint part');
      await client.query(statement());
      if (isPart) await client.query(one(['rollback to part', 'release part']));
      if (randomInt(20) === 0) await delay(randomInt(LONGEST_MS));
    }
    const end = randomInt(10);
    if (end === 0) await client.query('rollback');
    else if (end === 1) {
      const name = randomUUID();
      await client.query(`prepare transaction '${name}'`);
      await delay(randomInt(LONGEST_MS));
      await client.query(`${one(['commit', 'commit', 'rollback'])} prepared '${name}'`);
    } else await client.query('commit');
  }

  private async fold(client: pg.Client): Promise<void> {
    const { rows } = await client.query<{ folded: number }>('select fold_time_log_counts($1) as folded', [
      one([50, 500, 8192]),
    ]);
    if (rows[0]!.folded > 0) this.folds++;
    await delay(randomInt(50));
  }

  /** Compares in one snapshot, in which the own changes of every fourth reader are too. */
  private async read(client: pg.Client): Promise<void> {
    const isStandby = this.readerUrl !== this.url;
    const writes = !isStandby && randomInt(4) === 0;
    const level = isStandby ? LEVELS[1] : one(LEVELS.slice(1));
    await client.query(`begin isolation level ${level} ${writes ? 'read write' : 'read only'}`);
    await client.query('select from time_logs limit 1');
    for (let left = 3; left > 0; left--) {
      if (writes) await client.query(statement());
      if (randomInt(6) === 0) await delay(randomInt(LONGEST_MS));
      await this.compare(client);
    }
    await client.query('rollback');
  }

  private async compare(client: pg.Client): Promise<void> {
    const projects = one([null, 1, 3]);
    const { rows } = await client.query<{ from: string; to: string }>(
      `select ${day()}::text as from, ${day()}::text as to`,
    );
    const filter = [
      projects && Array.from({ length: projects }, () => one(PROJECTS)),
      one([null, rows[0]!.from]),
      one([null, rows[0]!.to]),
    ];
    for (const [what, texts] of Object.entries(READS)) await this.hold(client, what, texts, filter);
    const { rows: sums } = await client.query<{ n: string }>(READS.sum[0], filter);
    await this.hold(client, 'page', PAGE, [...filter, randomInt(Number(sums[0]!.n) + 1)]);
  }

  private async hold(
    client: pg.Client,
    what: string,
    [plain, counted]: readonly [string, string],
    values: unknown[],
  ): Promise<void> {
    const [logs, counts] = [await client.query(plain, values), await client.query(counted, values)].map(
      ({ rows }) => JSON.stringify(rows),
    );
    this.compared++;
    if (logs !== counts)
      this.differences.push(`${what} ${JSON.stringify(values)}: logs ${logs}, counts ${counts}`);
  }
}
