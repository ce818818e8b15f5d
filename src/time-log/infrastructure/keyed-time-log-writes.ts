import { setTimeout as delay } from 'node:timers/promises';
import { Batcher, type BatcherLimits, bisect } from '../../../libs/batching/src/index.js';
import { DomainError } from '../../../libs/errors/src/index.js';
import { type Database, isRowError, AutocommitStatement, type Statements } from '../../database/index.js';
import { IDEMPOTENCY_KEY_REUSED, fingerprintOf, type IdempotencyKey } from '../domain/idempotency-key.js';
import { TimeLog } from '../domain/time-log.js';
import { KEY_LIFETIME, TimeLogKey } from './time-log-key.entity.js';
import type { TimeLogRows } from './time-log-rows.js';
import type { TimeLogSweep } from './time-log-sweep.js';

/** Milliseconds until the next try to write a log whose key somebody else is using at the moment. */
const KEY_IN_USE_PAUSE = 25;

interface KeyedLog {
  readonly log: TimeLog;
  readonly key: IdempotencyKey;
  /** In hex. */
  readonly fingerprint: string;
}

interface KeptKey {
  readonly caller: string;
  readonly text: string;
  readonly fingerprint: string;
  readonly timeLogId: string;
}

/**
 * Writes logs that have a key: key and log in one transaction, many of them together. They have their own batches, so
 * other logs never wait for them. A writer holds an advisory lock on its key until the commit, and nobody waits for
 * that lock: a key that another instance is using delays no other. In a transaction the next try comes in that one.
 */
export class KeyedTimeLogWrites {
  readonly writes: Batcher<KeyedLog, string | undefined>;
  private insertion: AutocommitStatement | undefined;

  constructor(
    private readonly database: Database,
    private readonly rows: TimeLogRows,
    private readonly sweep: TimeLogSweep,
    private readonly limits: BatcherLimits,
    /** Called after a commit. */
    private readonly recorded: () => void,
  ) {
    this.writes = new Batcher((keyed) => bisect(keyed, (some) => this.write(some), isRowError), limits);
  }

  /**
   * The id of the log that the key made, now or before. In a transaction of the caller the log has no batch. Throws
   * DomainError IDEMPOTENCY_KEY_REUSED or SERVICE_UNAVAILABLE.
   */
  async add(log: TimeLog, key: IdempotencyKey, within?: Statements): Promise<string> {
    const keyed = { log, key, fingerprint: fingerprintOf(log) };
    const end = performance.now() + this.limits.wait;
    while (performance.now() < end) {
      const id = within === undefined ? await this.writes.add(keyed) : await this.writeOne(keyed, within);
      if (id !== undefined) return id;
      await delay(KEY_IN_USE_PAUSE);
    }
    throw new DomainError('SERVICE_UNAVAILABLE');
  }

  /** The id of the log that the key has made, if it has. Throws like `add`. */
  async known(
    log: TimeLog,
    key: IdempotencyKey,
    within: Statements = this.database,
  ): Promise<string | undefined> {
    const keyed = { log, key, fingerprint: fingerprintOf(log) };
    const outcome = keptOutcome(keyed, await this.find([keyed], within));
    if (outcome instanceof Error) throw outcome;
    return outcome;
  }

  private async writeOne(keyed: KeyedLog, within: Statements): Promise<string | undefined> {
    const [outcome] = await this.write([keyed], within);
    if (outcome instanceof Error) throw outcome;
    return outcome;
  }

  /** The id of each log; undefined where somebody else is using its key at the moment. */
  private async write(
    keyed: readonly KeyedLog[],
    within: Statements = this.database,
  ): Promise<(string | undefined | Error)[]> {
    const made = await this.insert(keyed, within);
    if (within === this.database) this.recorded();
    const others = keyed.filter(({ log }) => !made.has(log.id));
    // A separate statement: the snapshot of the first one lacks what another instance has committed meanwhile.
    const kept = others.length > 0 ? await this.find(others, within) : new Map<string, KeptKey>();
    this.sweep.begin(made.size);
    return keyed.map((one) => (made.has(one.log.id) ? one.log.id : keptOutcome(one, kept)));
  }

  /**
   * Stores logs whose key is neither known nor in use. Returns their ids. Of several logs with one key it takes the
   * first.
   */
  private async insert(keyed: readonly KeyedLog[], within: Statements): Promise<ReadonlySet<string>> {
    const keys = this.database.table(TimeLogKey);
    this.insertion ??= new AutocommitStatement(insertionInto(keys, this.database.table(TimeLog), this.rows));
    const rows = await within.change(this.insertion, [
      ...this.rows.arraysOf(keyed.map(({ log }) => log)),
      keyed.map(({ key }) => key.caller),
      keyed.map(({ key }) => key.text),
      keyed.map(({ fingerprint }) => fingerprint),
      keys,
    ]);
    return new Set(rows.map(([id]) => id!));
  }

  private async find(keyed: readonly KeyedLog[], within: Statements): Promise<ReadonlyMap<string, KeptKey>> {
    const rows = await within.query<KeptKey>(
      `select principal as caller, text, encode(fingerprint, 'hex') as fingerprint, time_log_id as "timeLogId"
         from ${this.database.table(TimeLogKey)}
         join (select distinct * from unnest($1::text[], $2::text[]) as given (principal, text)) asked using (principal, text)
        where created_at >= now() - ${KEY_LIFETIME}`,
      [keyed.map(({ key }) => key.caller), keyed.map(({ key }) => key.text)],
    );
    return new Map(rows.map((kept) => [nameOf(kept), kept]));
  }
}

/** A condition that is true. It fails, so that no key is stored, if a trigger has dropped a log. */
const ALL_WRITTEN = `(
  select case when n = (select count(*) from kept) then true
              else format('a trigger of the database dropped time logs: %s left', n)::boolean end
    from (select count(*) as n from written) counted)`;

function insertionInto(
  keys: string,
  logs: string,
  { arrays, names, nextParameter }: Pick<TimeLogRows, 'arrays' | 'names' | 'nextParameter'>,
): (condition: string) => string {
  // After those of the logs.
  const [principals, texts, fingerprints, table] = [0, 1, 2, 3].map((index) => `$${nextParameter + index}`);
  return (condition) => `
    with asked as (
      select distinct on (key_principal, key_text) *
        from unnest(${arrays}, ${principals}::text[], ${texts}::text[], ${fingerprints}::text[]) with ordinality
             as given (${names}, key_principal, key_text, key_fingerprint, key_number)
       where ${condition}
       order by key_principal, key_text, key_number
    ), free as materialized (
      select * from asked
       where pg_try_advisory_xact_lock(
               hashtextextended(key_principal || ' ' || key_text, ${table}::regclass::oid::bigint))
    ), kept as (
      insert into ${keys} as keys (principal, text, fingerprint, time_log_id)
      select key_principal, key_text, decode(key_fingerprint, 'hex'), id from free
          on conflict on constraint time_log_keys_pkey do update
         set fingerprint = excluded.fingerprint, time_log_id = excluded.time_log_id, created_at = excluded.created_at
       where keys.created_at < now() - ${KEY_LIFETIME}
      returning time_log_id as id
    ), written as (
      insert into ${logs} (${names})
      select ${names} from free join kept using (id) returning id
    )
    select id from kept where ${ALL_WRITTEN}`;
}

/** A unique name for a key. The line break separates: the text of a key never has one. */
function nameOf({ caller, text }: Pick<IdempotencyKey, 'caller' | 'text'>): string {
  return `${text}\n${caller}`;
}

/** The id of the log that the key has made, where it is kept; an error where that has other values. */
function keptOutcome(
  { key, fingerprint }: KeyedLog,
  kept: ReadonlyMap<string, KeptKey>,
): string | undefined | Error {
  const known = kept.get(nameOf(key));
  if (known === undefined || known.fingerprint === fingerprint) return known?.timeLogId;
  return new DomainError(IDEMPOTENCY_KEY_REUSED);
}
