import { setTimeout as delay } from 'node:timers/promises';
import { Batcher, type BatcherLimits, Limit } from '../../../libs/batching/src/index.js';
import { DomainError } from '../../../libs/errors/src/index.js';
import {
  type Database,
  isRowError,
  PreparedStatement,
  restOf,
  type Statements,
} from '../../database/index.js';
import { IDEMPOTENCY_KEY_REUSED, mapKeyOf, type RequestKey } from '../domain/idempotency-key.js';
import type { AnsweredLog, Recorded, StoreOptions } from '../domain/time-log.repository.js';
import { type StoredTimeLog, TimeLog } from '../domain/time-log.js';
import { allWritten, mapInsertError } from './storage-errors.js';
import { TimeLogKey } from './time-log.entities.js';
import type { TimeLogRows } from './time-log-rows.js';

/** The maximum number of single logs in one statement. */
const MAX_SHARED_LOGS = 200;
/** The time before a create is retried whose key is in use. */
const KEY_RETRY_INTERVAL_MS = 25;

/** Logs that are stored together or not at all, with the key of their request. */
interface Create<Key = RequestKey | undefined> {
  readonly logs: readonly TimeLog[];
  readonly key: Key;
}
type KeyedCreate = Create<RequestKey>;

/** Undefined if the key is in use. */
type Outcome = Recorded | undefined;

interface StoredKey {
  readonly caller: string;
  readonly text: string;
  readonly fingerprint: string;
  readonly logs: readonly AnsweredLog[];
}

/**
 * Stores new logs, with their idempotency keys in the same transaction. Single logs that arrive during a write share
 * commits; those with keys have a queue of their own, so that logs without keys never wait for them. A batch has a
 * commit of its own. A create locks its key until the commit, and others retry instead of waiting for that lock, so
 * that a key in use delays no other key.
 */
export class TimeLogCreates {
  readonly single: Batcher<Create, Outcome>;
  readonly keyed: Batcher<KeyedCreate, Outcome>;
  /** Batches run one at a time, so that the database has time for other changes. */
  readonly batches: Limit;
  private insertion: PreparedStatement | undefined;
  private keyedInsertion: PreparedStatement | undefined;

  constructor(
    private readonly database: Database,
    private readonly rows: TimeLogRows,
    private readonly limits: Omit<BatcherLimits, 'batch'>,
    /** The lifetime of keys, an interval in SQL. */
    private readonly keyLifetime: string,
    /** Called after each statement with the number of logs that it stored. */
    private readonly changed: (statements: Statements, logs: number) => void,
  ) {
    const shared = { ...limits, batch: MAX_SHARED_LOGS };
    this.single = new Batcher((creates) => this.store(creates), shared, isRowError);
    this.keyed = new Batcher((creates) => this.storeKeyed(creates), shared, isRowError);
    this.batches = new Limit(() => 1, limits.waitMs);
  }

  /**
   * Stores logs, or returns those that the key has recorded. In a transaction of the caller there is no queue. A key in
   * use makes it try again, within the rest of the deadline; if that is 0, it tries once.
   */
  async record(
    logs: readonly TimeLog[],
    { key, callerId, deadlineMs }: StoreOptions = {},
    statements?: Statements,
  ): Promise<Recorded> {
    const restMs = restOf(deadlineMs ?? this.limits.waitMs);
    do {
      const waitMs = deadlineMs && restMs();
      const outcome = await this.attempt({ logs, key }, callerId, waitMs, statements).catch(
        this.rejectInsert,
      );
      if (outcome !== undefined) return outcome;
      await delay(Math.min(KEY_RETRY_INTERVAL_MS, restMs()));
    } while (restMs() > 1);
    throw new DomainError('SERVICE_UNAVAILABLE');
  }

  /** Returns the logs that a key has recorded, or undefined. Throws DomainError IDEMPOTENCY_KEY_REUSED. */
  async findByKey(
    key: RequestKey,
    statements: Statements = this.database,
  ): Promise<readonly AnsweredLog[] | undefined> {
    const outcome = replayOf(key, await this.find([key], statements));
    if (outcome instanceof Error) throw outcome;
    return outcome?.logs;
  }

  /** Stores logs after those that wait before them. */
  private attempt(
    create: Create,
    callerId: string | undefined,
    waitMs: number | undefined,
    statements: Statements | undefined,
  ): Promise<Outcome> {
    const { key } = create;
    if (statements !== undefined) return this.storeAlone(create, statements);
    if (create.logs.length === 1)
      return key ? this.keyed.add({ ...create, key }, waitMs) : this.single.add(create, waitMs);
    return this.batches.run(callerId, () => this.storeAlone(create, this.database), { waitMs });
  }

  private async storeAlone({ logs, key }: Create, statements: Statements): Promise<Outcome> {
    const [outcome] = key
      ? await this.storeKeyed([{ logs, key }], statements)
      : await this.store([{ logs, key }], statements);
    if (outcome instanceof Error) throw outcome;
    return outcome;
  }

  /** Stores all logs in one statement, or none. */
  private async store(
    creates: readonly Create[],
    statements: Statements = this.database,
  ): Promise<Outcome[]> {
    this.insertion ??= new PreparedStatement(insertionOf(this.database.table(TimeLog), this.rows));
    const logs = creates.flatMap((create) => create.logs);
    await statements.change(this.insertion, this.rows.arraysOf(logs));
    this.changed(statements, logs.length);
    return creates.map(({ logs: stored }) => ({ isReplay: false, logs: stored }));
  }

  /** Stores the logs whose keys are neither stored nor in use: all of them in one statement, or none. */
  private async storeKeyed(
    creates: readonly KeyedCreate[],
    statements: Statements = this.database,
  ): Promise<(Outcome | Error)[]> {
    const keys = this.database.table(TimeLogKey);
    this.keyedInsertion ??= new PreparedStatement(
      keyedInsertionOf(this.database.table(TimeLog), keys, this.rows, this.keyLifetime),
    );
    // A statement can store a key once.
    const requested = [...new Map(creates.map((create) => [mapKeyOf(create.key), create])).values()];
    const rows = await statements.change(this.keyedInsertion, [
      ...this.rows.arraysOf(requested.flatMap(({ logs }) => logs)),
      requested.flatMap(({ logs }, index) => logs.map(() => index + 1)),
      requested.map(({ key }) => key.caller),
      requested.map(({ key }) => key.text),
      requested.map(({ key }) => key.fingerprint),
      requested.map(({ logs }) => answerText(logs)),
      keys,
    ]);
    const stored = new Set(rows.map(([number]) => requested[Number(number) - 1]!));
    this.changed(
      statements,
      [...stored].reduce((sum, { logs }) => sum + logs.length, 0),
    );
    const others = creates.filter((create) => !stored.has(create)).map(({ key }) => key);
    // A separate statement, since the snapshot of the insert lacks concurrent commits.
    const known = others.length > 0 ? await this.find(others, statements) : new Map<string, StoredKey>();
    return creates.map((create) =>
      stored.has(create) ? { isReplay: false, logs: create.logs } : replayOf(create.key, known),
    );
  }

  private async find(keys: readonly RequestKey[], statements: Statements): Promise<Map<string, StoredKey>> {
    const rows = await statements.query<Omit<StoredKey, 'logs'> & { readonly logs: string }>(
      `select principal as caller, text, encode(fingerprint, 'hex') as fingerprint, logs::text as logs
         from ${this.database.table(TimeLogKey)}
         join (select distinct * from unnest($1::text[], $2::text[]) as input (principal, text)) requested using (principal, text)
        where created_at >= now() - ${this.keyLifetime}`,
      [keys.map(({ caller }) => caller), keys.map(({ text }) => text)],
    );
    return new Map(rows.map((row) => [mapKeyOf(row), { ...row, logs: answeredLogs(row.logs) }]));
  }

  /** Throws the caller's error for a failed insert. */
  private readonly rejectInsert = (error: unknown): never => {
    const tables = [TimeLog, TimeLogKey].map((entity) => this.database.table(entity));
    throw mapInsertError(error, tables) ?? error;
  };
}

/** Returns a statement that stores logs, or fails. */
function insertionOf(logs: string, { arrays, names }: TimeLogRows): string {
  return `
    with written as (
      insert into ${logs} (${names}) select * from unnest(${arrays}) returning id
    )
    select 1 where ${allWritten('cardinality($1)')}`;
}

/**
 * Returns a statement that stores keys with their logs, which have the number of their key, from 1. A stored key is
 * replaced if it is older than the lifetime, an interval in SQL. The statement returns the numbers of the keys that it
 * has stored. It locks them until the end of the transaction: those that are in use are not stored.
 */
function keyedInsertionOf(
  logs: string,
  keys: string,
  { arrays, names, nextParameter }: TimeLogRows,
  lifetime: string,
): string {
  const [numbers, callers, texts, fingerprints, answers, table] = [0, 1, 2, 3, 4, 5].map(
    (index) => `$${nextParameter + index}`,
  );
  return `
    with requested as materialized (
      select * from unnest(${callers}::text[], ${texts}::text[], ${fingerprints}::text[], ${answers}::text[])
             with ordinality as input (principal, text, fingerprint, logs, number)
       where pg_try_advisory_xact_lock(hashtextextended(principal || ' ' || text, ${table}::regclass::oid::bigint))
    ), stored as (
      insert into ${keys} as keys (principal, text, fingerprint, logs)
      select principal, text, decode(fingerprint, 'hex'), logs::json from requested
      on conflict on constraint time_log_keys_pkey do update
         set fingerprint = excluded.fingerprint, logs = excluded.logs, created_at = excluded.created_at
       where keys.created_at < now() - ${lifetime}
      returning principal, text
    ), new as materialized (
      select number from requested join stored using (principal, text)
    ), chosen as materialized (
      select log.* from unnest(${arrays}, ${numbers}::bigint[]) as log (${names}, number) join new using (number)
    ), written as (
      insert into ${logs} (${names}) select ${names} from chosen returning id
    )
    select number::text from new where ${allWritten('(select count(*) from chosen)')}`;
}

/** Returns logs as they are answered, as JSON. */
function answerText(logs: readonly TimeLog[]): string {
  // A copy has no `toJSON`, which adds the time inside the id.
  return JSON.stringify(logs.map((log: StoredTimeLog) => ({ ...log })));
}

/** Returns the logs of such a text; keys of version 0.3 have only ids. */
function answeredLogs(text: string): AnsweredLog[] {
  const logs = JSON.parse(text) as (StoredTimeLog | string)[];
  return logs.map((log) => (typeof log === 'string' ? { id: log } : log));
}

/** Returns the logs of a stored key, or an error if it was used with other values. */
function replayOf(key: RequestKey, stored: ReadonlyMap<string, StoredKey>): Outcome | Error {
  const known = stored.get(mapKeyOf(key));
  if (known === undefined) return undefined;
  if (known.fingerprint === key.fingerprint) return { isReplay: true, logs: known.logs };
  return new DomainError(IDEMPOTENCY_KEY_REUSED);
}
