import { setTimeout as delay } from 'node:timers/promises';
import { Batcher, type BatcherLimits } from '../../../libs/batching/src/index.js';
import { DomainError } from '../../../libs/errors/src/index.js';
import { type Database, isRowError, AutocommitStatement, type Statements } from '../../database/index.js';
import { IDEMPOTENCY_KEY_REUSED, fingerprintOf, type IdempotencyKey } from '../domain/idempotency-key.js';
import { TimeLog } from '../domain/time-log.js';
import { keyLifetime, TimeLogKey } from './time-log-key.entity.js';
import type { TimeLogRows } from './time-log-rows.js';
import type { TimeLogSweep } from './time-log-sweep.js';

/** The time before a write is retried whose key is in use. */
const KEY_RETRY_INTERVAL_MS = 25;

interface KeyedLog {
  readonly log: TimeLog;
  readonly key: IdempotencyKey;
  /** Hexadecimal. */
  readonly fingerprint: string;
}

interface StoredKey {
  readonly caller: string;
  readonly text: string;
  readonly fingerprint: string;
  readonly timeLogId: string;
}

/**
 * Writes logs and their idempotency keys in one transaction. They have batches of their own, so logs
 * without keys never wait for them. A writer locks its key until the commit, and other writers retry
 * instead of waiting for that lock, so that a key in use delays no other key.
 */
export class KeyedTimeLogWrites {
  readonly writes: Batcher<KeyedLog, string | undefined>;
  private insertion: AutocommitStatement | undefined;

  constructor(
    private readonly database: Database,
    private readonly rows: TimeLogRows,
    private readonly sweep: TimeLogSweep,
    /** `keyLifetime` is in hours. */
    private readonly limits: BatcherLimits & { readonly keyLifetime: number },
    /** Called after a commit. */
    private readonly recorded: () => void,
  ) {
    this.writes = new Batcher((keyed) => this.write(keyed), limits, isRowError);
  }

  /**
   * Returns the id of the log that the key created, now or earlier. In a transaction of the caller, it
   * is written alone. Throws DomainError IDEMPOTENCY_KEY_REUSED or SERVICE_UNAVAILABLE.
   */
  async add(log: TimeLog, key: IdempotencyKey, within?: Statements): Promise<string> {
    const keyed = { log, key, fingerprint: fingerprintOf(log) };
    const end = performance.now() + this.limits.wait;
    while (performance.now() < end) {
      const id = within === undefined ? await this.writes.add(keyed) : await this.writeOne(keyed, within);
      if (id !== undefined) return id;
      await delay(KEY_RETRY_INTERVAL_MS);
    }
    throw new DomainError('SERVICE_UNAVAILABLE');
  }

  /** Returns the id of the log that the key created, or undefined. Throws like `add`. */
  async known(
    log: TimeLog,
    key: IdempotencyKey,
    within: Statements = this.database,
  ): Promise<string | undefined> {
    const keyed = { log, key, fingerprint: fingerprintOf(log) };
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
    return keyed.map((one) => (created.has(one.log.id) ? one.log.id : outcomeOf(one, stored)));
  }

  /** Stores the first log of each key that is neither stored nor in use. Returns their ids. */
  private async insert(keyed: readonly KeyedLog[], within: Statements): Promise<ReadonlySet<string>> {
    const keys = this.database.table(TimeLogKey);
    this.insertion ??= new AutocommitStatement(
      insertionInto(keys, this.database.table(TimeLog), this.rows, keyLifetime(this.limits.keyLifetime)),
    );
    const rows = await within.change(this.insertion, [
      ...this.rows.arraysOf(keyed.map(({ log }) => log)),
      keyed.map(({ key }) => key.caller),
      keyed.map(({ key }) => key.text),
      keyed.map(({ fingerprint }) => fingerprint),
      keys,
    ]);
    return new Set(rows.map(([id]) => id!));
  }

  private async find(
    keyed: readonly KeyedLog[],
    within: Statements,
  ): Promise<ReadonlyMap<string, StoredKey>> {
    const rows = await within.query<StoredKey>(
      `select principal as caller, text, encode(fingerprint, 'hex') as fingerprint, time_log_id as "timeLogId"
         from ${this.database.table(TimeLogKey)}
         join (select distinct * from unnest($1::text[], $2::text[]) as input (principal, text)) requested using (principal, text)
        where created_at >= now() - ${keyLifetime(this.limits.keyLifetime)}`,
      [keyed.map(({ key }) => key.caller), keyed.map(({ key }) => key.text)],
    );
    return new Map(rows.map((stored) => [mapKeyOf(stored), stored]));
  }
}

/** A condition that is true, or fails if a trigger dropped a log, so that its key is not stored. */
const ALL_WRITTEN = `(
  select case when n = (select count(*) from stored) then true
              else format('a trigger of the database dropped time logs: %s left', n)::boolean end
    from (select count(*) as n from written) counted)`;

function insertionInto(
  keys: string,
  logs: string,
  { arrays, names, nextParameter }: Pick<TimeLogRows, 'arrays' | 'names' | 'nextParameter'>,
  lifetime: string,
): (condition: string) => string {
  // These parameters follow those of the logs.
  const [principals, texts, fingerprints, table] = [0, 1, 2, 3].map((index) => `$${nextParameter + index}`);
  return (condition) => `
    with requested as (
      select distinct on (key_principal, key_text) *
        from unnest(${arrays}, ${principals}::text[], ${texts}::text[], ${fingerprints}::text[]) with ordinality
             as input (${names}, key_principal, key_text, key_fingerprint, key_number)
       where ${condition}
       order by key_principal, key_text, key_number
    ), free as materialized (
      select * from requested
       where pg_try_advisory_xact_lock(
               hashtextextended(key_principal || ' ' || key_text, ${table}::regclass::oid::bigint))
    ), stored as (
      insert into ${keys} as keys (principal, text, fingerprint, time_log_id)
      select key_principal, key_text, decode(key_fingerprint, 'hex'), id from free
          on conflict on constraint time_log_keys_pkey do update
         set fingerprint = excluded.fingerprint, time_log_id = excluded.time_log_id, created_at = excluded.created_at
       where keys.created_at < now() - ${lifetime}
      returning time_log_id as id
    ), written as (
      insert into ${logs} (${names})
      select ${names} from free join stored using (id) returning id
    )
    select id from stored where ${ALL_WRITTEN}`;
}

/** Returns a unique map key. The text of an idempotency key has no line break. */
function mapKeyOf({ caller, text }: Pick<IdempotencyKey, 'caller' | 'text'>): string {
  return `${text}\n${caller}`;
}

/** Returns the id of the log that the key created, or an error if that log has other values. */
function outcomeOf(
  { key, fingerprint }: KeyedLog,
  stored: ReadonlyMap<string, StoredKey>,
): string | undefined | Error {
  const known = stored.get(mapKeyOf(key));
  if (known === undefined || known.fingerprint === fingerprint) return known?.timeLogId;
  return new DomainError(IDEMPOTENCY_KEY_REUSED);
}
