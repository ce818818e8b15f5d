import { setTimeout as delay } from 'node:timers/promises';
import { Batcher, type BatcherLimits } from '../../../libs/batching/src/index.js';
import { DomainError } from '../../../libs/errors/src/index.js';
import { type Database, isRowError, PreparedStatement, type Statements } from '../../database/index.js';
import {
  fingerprintOf,
  fingerprintOfAll,
  IDEMPOTENCY_KEY_REUSED,
  type IdempotencyKey,
  mapKeyOf,
} from '../domain/idempotency-key.js';
import { isChanged, TimeLog, type TimeLogValues } from '../domain/time-log.js';
import { TimeLogKey } from './time-log-key.entity.js';
import { allWritten } from './storage-errors.js';
import type { TimeLogRows } from './time-log-rows.js';
import type { TimeLogSweep } from './time-log-sweep.js';

/** The time before a write is retried whose key is in use. */
const KEY_RETRY_INTERVAL_MS = 25;

interface Keyed {
  readonly key: IdempotencyKey;
  /** Hexadecimal. */
  readonly fingerprint: string;
}

interface KeyedLog extends Keyed {
  readonly log: TimeLog;
}

interface StoredKey {
  readonly caller: string;
  readonly text: string;
  readonly fingerprint: string;
  readonly timeLogId: string;
  /** Null for a single log. */
  readonly timeLogIds: readonly string[] | null;
}

/**
 * Writes logs and their idempotency keys in one transaction. They have batches of their own, so logs
 * without keys never wait for them. A writer locks its key until the commit, and other writers retry
 * instead of waiting for that lock, so that a key in use delays no other key.
 */
export class KeyedTimeLogWrites {
  readonly writes: Batcher<KeyedLog, string | undefined>;
  private insertion: PreparedStatement | undefined;
  private batchInsertion: PreparedStatement | undefined;

  constructor(
    private readonly database: Database,
    private readonly rows: TimeLogRows,
    private readonly sweep: TimeLogSweep,
    private readonly limits: BatcherLimits,
    /** The lifetime of keys, an interval in SQL. */
    private readonly lifetime: string,
    /** Called after a commit. */
    private readonly recorded: () => void,
  ) {
    this.writes = new Batcher((keyed) => this.write(keyed), limits, isRowError);
  }

  /**
   * Returns the id of the log that the key created, now or earlier. In a transaction of the caller, it
   * is written alone. Throws DomainError IDEMPOTENCY_KEY_REUSED or SERVICE_UNAVAILABLE.
   */
  add(log: TimeLog, key: IdempotencyKey, deadline?: number, within?: Statements): Promise<string> {
    const keyed = { log, key, fingerprint: fingerprintOf(log) };
    return this.retry(deadline, (rest) =>
      within === undefined ? this.writes.add(keyed, rest) : this.writeOne(keyed, within),
    );
  }

  /**
   * Returns the ids of the batch that the key created, now or earlier. `enqueue` runs each attempt to write it, which
   * is one statement, and waits no longer than the rest of the deadline. Throws like `add`.
   */
  addAll(
    logs: readonly TimeLog[],
    key: IdempotencyKey,
    enqueue: <T>(write: () => Promise<T>, deadline?: number) => Promise<T>,
    deadline?: number,
    within: Statements = this.database,
  ): Promise<readonly string[]> {
    const keyed = { key, fingerprint: fingerprintOfAll(logs) };
    return this.retry(deadline, (rest) => enqueue(() => this.writeAll(logs, keyed, within), rest));
  }

  /** Repeats a write whose key is in use, each time with the rest of the deadline. If that is 0, it tries once. */
  private async retry<T>(
    deadline: number | undefined,
    write: (rest?: number) => Promise<T | undefined>,
  ): Promise<T> {
    let now = performance.now();
    const end = now + (deadline ?? this.limits.wait);
    do {
      const outcome = await write(deadline === undefined ? undefined : end - now);
      if (outcome !== undefined) return outcome;
      await delay(Math.min(KEY_RETRY_INTERVAL_MS, end - now));
    } while ((now = performance.now()) < end);
    throw new DomainError('SERVICE_UNAVAILABLE');
  }

  /** Returns the id of the log that the key created, or undefined. Throws like `add`. */
  async known(
    log: TimeLog,
    key: IdempotencyKey,
    within: Statements = this.database,
  ): Promise<string | undefined> {
    return (await this.stored({ key, fingerprint: fingerprintOf(log) }, within))?.timeLogId;
  }

  /** Returns the ids of the batch that the key created, or undefined. Throws like `add`. */
  async knownAll(
    logs: readonly TimeLog[],
    key: IdempotencyKey,
    within: Statements = this.database,
  ): Promise<readonly string[] | undefined> {
    return (await this.stored({ key, fingerprint: fingerprintOfAll(logs) }, within))?.timeLogIds ?? undefined;
  }

  /** Returns the values of the logs of the key if they differ from those that were sent. */
  async replaced(
    { caller, text }: IdempotencyKey,
    within: Statements = this.database,
  ): Promise<readonly TimeLogValues[] | undefined> {
    const [key] = await within.query<{ readonly replaced: string | null }>(
      // Version 0.2 takes over an expired key without changing the column.
      `select replaced::text from ${this.database.table(TimeLogKey)}
        where principal = $1 and text = $2 and replaced->0->>'id' = time_log_id::text`,
      [caller, text],
    );
    return key?.replaced ? (JSON.parse(key.replaced) as TimeLogValues[]) : undefined;
  }

  private async stored(keyed: Keyed, within: Statements): Promise<StoredKey | undefined> {
    const outcome = outcomeOf(keyed, await this.find([keyed], within));
    if (outcome instanceof Error) throw outcome;
    return outcome;
  }

  private async writeOne(keyed: KeyedLog, within: Statements): Promise<string | undefined> {
    const [outcome] = await this.write([keyed], within);
    if (outcome instanceof Error) throw outcome;
    return outcome;
  }

  /** Returns the id of each log; undefined if its key is in use. */
  private async write(
    keyed: readonly KeyedLog[],
    within: Statements = this.database,
  ): Promise<(string | undefined | Error)[]> {
    const created = await this.insert(keyed, within);
    if (within === this.database) this.recorded();
    const others = keyed.filter(({ log }) => !created.has(log.id));
    // A separate statement, since the snapshot of the insert lacks concurrent commits.
    const stored = others.length > 0 ? await this.find(others, within) : new Map<string, StoredKey>();
    this.sweep.begin(created.size);
    return keyed.map((one) => {
      if (created.has(one.log.id)) return one.log.id;
      const outcome = outcomeOf(one, stored);
      return outcome instanceof Error ? outcome : outcome?.timeLogId;
    });
  }

  /** Returns the ids of the batch of the key; undefined if the key is in use. */
  private async writeAll(
    logs: readonly TimeLog[],
    keyed: Keyed,
    within: Statements,
  ): Promise<readonly string[] | undefined> {
    const keys = this.database.table(TimeLogKey);
    this.batchInsertion ??= new PreparedStatement(
      insertionOfBatch(keys, this.database.table(TimeLog), this.rows, this.lifetime),
    );
    const { key, fingerprint } = keyed;
    const values = [
      ...this.rows.arraysOf(logs),
      key.caller,
      key.text,
      fingerprint,
      keys,
      replacementOf(logs),
    ];
    const isStored = (await within.change(this.batchInsertion, values)).length > 0;
    if (within === this.database) this.recorded();
    this.sweep.begin(isStored ? logs.length : 0);
    if (isStored) return logs.map(({ id }) => id);
    // A separate statement, as for single logs.
    return (await this.stored(keyed, within))?.timeLogIds ?? undefined;
  }

  /** Stores the first log of each key that is neither stored nor in use. Returns their ids. */
  private async insert(keyed: readonly KeyedLog[], within: Statements): Promise<ReadonlySet<string>> {
    const keys = this.database.table(TimeLogKey);
    this.insertion ??= new PreparedStatement(
      insertionInto(keys, this.database.table(TimeLog), this.rows, this.lifetime),
    );
    const rows = await within.change(this.insertion, [
      ...this.rows.arraysOf(keyed.map(({ log }) => log)),
      keyed.map(({ key }) => key.caller),
      keyed.map(({ key }) => key.text),
      keyed.map(({ fingerprint }) => fingerprint),
      keys,
      keyed.map(({ log }) => replacementOf([log])),
    ]);
    return new Set(rows.map(([id]) => id!));
  }

  private async find(keyed: readonly Keyed[], within: Statements): Promise<ReadonlyMap<string, StoredKey>> {
    const rows = await within.query<StoredKey>(
      `select principal as caller, text, encode(fingerprint, 'hex') as fingerprint, time_log_id as "timeLogId",
              time_log_ids as "timeLogIds"
         from ${this.database.table(TimeLogKey)}
         join (select distinct * from unnest($1::text[], $2::text[]) as input (principal, text)) requested using (principal, text)
        where created_at >= now() - ${this.lifetime}`,
      [keyed.map(({ key }) => key.caller), keyed.map(({ key }) => key.text)],
    );
    return new Map(rows.map((stored) => [mapKeyOf(stored), stored]));
  }
}

const KEY_COLUMNS = 'principal, text, fingerprint, time_log_id, time_log_ids, replaced';
/** Returns the clause that replaces a key which is older than the lifetime, an interval in SQL. */
const onConflict = (lifetime: string) => `
  on conflict on constraint time_log_keys_pkey do update
     set fingerprint = excluded.fingerprint, time_log_id = excluded.time_log_id, time_log_ids = excluded.time_log_ids,
         replaced = excluded.replaced, created_at = excluded.created_at
   where keys.created_at < now() - ${lifetime}`;

/** Returns a condition that locks a key until the end of the transaction. It is false if the key is in use. */
const locks = (principal: string, text: string, table: string) =>
  `pg_try_advisory_xact_lock(
     hashtextextended(${principal} || ' ' || ${text}, ${table}::regclass::oid::bigint))`;

/** Returns a statement that stores a key and its batch. It has a row unless the key is stored or in use. */
function insertionOfBatch(
  keys: string,
  logs: string,
  { arrays, names, nextParameter }: Pick<TimeLogRows, 'arrays' | 'names' | 'nextParameter'>,
  lifetime: string,
): string {
  const [principal, text, fingerprint, table, replaced] = [0, 1, 2, 3, 4].map(
    (index) => `$${nextParameter + index}::text`,
  );
  return `
    with free as materialized (
      select ${locks(principal!, text!, table!)} as is_free
    ), stored as (
      insert into ${keys} as keys (${KEY_COLUMNS})
      select ${principal}, ${text}, decode(${fingerprint}, 'hex'), ($1::uuid[])[1], $1::uuid[], ${replaced}::json from free where is_free
      ${onConflict(lifetime)}
      returning 1
    ), written as (
      insert into ${logs} (${names}) select * from unnest(${arrays}) where exists (select from stored) returning id
    )
    select 1 from stored where ${allWritten('(select count(*) from stored) * cardinality($1)')}`;
}

function insertionInto(
  keys: string,
  logs: string,
  { arrays, names, nextParameter }: Pick<TimeLogRows, 'arrays' | 'names' | 'nextParameter'>,
  lifetime: string,
): string {
  // These parameters follow those of the logs.
  const [principals, texts, fingerprints, table, replaced] = [0, 1, 2, 3, 4].map(
    (index) => `$${nextParameter + index}`,
  );
  return `
    with requested as (
      select distinct on (key_principal, key_text) *
        from unnest(${arrays}, ${principals}::text[], ${texts}::text[], ${fingerprints}::text[], ${replaced}::text[]) with ordinality
             as input (${names}, key_principal, key_text, key_fingerprint, key_replaced, key_number)
       order by key_principal, key_text, key_number
    ), free as materialized (
      select * from requested
       where ${locks('key_principal', 'key_text', table!)}
    ), stored as (
      insert into ${keys} as keys (${KEY_COLUMNS})
      select key_principal, key_text, decode(key_fingerprint, 'hex'), id, null, key_replaced::json from free
      ${onConflict(lifetime)}
      returning time_log_id as id
    ), written as (
      insert into ${logs} (${names})
      select ${names} from free join stored using (id) returning id
    )
    select id from stored where ${allWritten('(select count(*) from stored)')}`;
}

/** Returns logs as JSON if values of some of them differ from those that were sent. */
function replacementOf(logs: readonly TimeLog[]): string | null {
  return logs.some(isChanged) ? JSON.stringify(logs) : null;
}

/** Returns the stored key, or an error if it was used with other values. */
function outcomeOf(
  { key, fingerprint }: Keyed,
  stored: ReadonlyMap<string, StoredKey>,
): StoredKey | undefined | Error {
  const known = stored.get(mapKeyOf(key));
  if (known === undefined || known.fingerprint === fingerprint) return known;
  return new DomainError(IDEMPOTENCY_KEY_REUSED);
}
