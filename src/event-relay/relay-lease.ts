import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Database } from '../database/index.js';
import type { FeedCursor } from '../feed/index.js';

/** The duration of a lease. Never increase it: the lease of an earlier version would not be recognized. */
const LEASE_MS = 10_000;
/** The time before the end of a lease at which its holder stops, so that the next one may start. */
const RESERVE_MS = 2_000;
/** SQL: the end of a lease that is taken now. */
const LEASE_END = `clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'`;
/** The cursor before the first event. */
export const BEGINNING: FeedCursor = { position: '0', logId: '00000000-0000-0000-0000-000000000000' };

/** The progress of the relay to a sink, and the lease of the instance that publishes. */
@Entity('time_log_relays', { synchronize: false })
export class RelayCheckpoint {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'time_log_relays_pkey' })
  readonly sink!: string;

  /** With `id`, the cursor in the feed up to which all events are confirmed. */
  @Column({ type: 'bigint' })
  readonly position!: string;

  @Column({ type: 'uuid' })
  readonly id!: string;

  @Column({ type: 'uuid' })
  readonly holder!: string;

  @Column({ type: 'timestamptz', name: 'leased_until' })
  readonly leasedUntil!: Date;
}

interface RelayState extends FeedCursor {
  /** Whether the server is a standby, which may be behind. */
  readonly isReadOnly: boolean;
  /** The instance that holds the lease. */
  readonly holder: string | null;
}

/**
 * The exclusive right of an instance to publish to a sink, for a few seconds at a time. It is a row
 * that also stores the progress. Until it is released, it is renewed in the background.
 */
export class RelayLease {
  /** The end of the lease, in milliseconds of `performance.now()`. */
  private heldUntil = -Infinity;
  private lastWrite: Promise<unknown> = Promise.resolve();
  private readonly renewal: NodeJS.Timeout;

  private constructor(
    private readonly database: Database,
    private readonly sink: string,
    private readonly holder: string,
    private saved: FeedCursor,
    renewalMs: number,
  ) {
    // If it fails, the lease expires.
    const renew = () => void this.write(LEASE_MS).catch(() => undefined);
    this.renewal = setInterval(renew, renewalMs).unref();
  }

  /** Returns the progress of the relay to a sink. Throws DomainError SERVICE_UNAVAILABLE. */
  static async stateOf(database: Database, sink: string): Promise<RelayState> {
    // If a lease ends later than one that is taken now, the clock of the database was set back.
    const [state] = await database.query<RelayState>(
      `select current_setting('transaction_read_only') = 'on' as "isReadOnly",
              coalesce(relay.position, $2) as position, coalesce(relay.id, $3) as "logId",
              case when leased_until between clock_timestamp() and ${LEASE_END} then holder end as holder
         from (values (1)) as always left join ${database.table(RelayCheckpoint)} as relay on relay.sink = $1`,
      [sink, BEGINNING.position, BEGINNING.logId],
    );
    return state!;
  }

  /** Takes the lease. Returns undefined if another instance holds it. Throws like `stateOf`. */
  static async take(
    database: Database,
    sink: string,
    holder: string,
    renewalMs: number,
  ): Promise<RelayLease | undefined> {
    const startedAt = performance.now();
    const [cursor] = await database.change<FeedCursor>(
      `insert into ${database.table(RelayCheckpoint)} as relay (sink, position, id, holder, leased_until)
       values ($1, $3, $4, $2, ${LEASE_END})
       on conflict (sink) do update set holder = excluded.holder, leased_until = excluded.leased_until
        where relay.holder = excluded.holder or relay.leased_until not between clock_timestamp() and ${LEASE_END}
       returning position, id as "logId"`,
      [sink, holder, BEGINNING.position, BEGINNING.logId],
    );
    if (!cursor) return undefined;
    const lease = new RelayLease(database, sink, holder, cursor, renewalMs);
    lease.heldUntil = startedAt + LEASE_MS - RESERVE_MS;
    return lease;
  }

  /** The cursor in the feed up to which all events are confirmed. */
  get cursor(): FeedCursor {
    return this.saved;
  }

  /** Whether no other instance can hold the lease. */
  get isHeld(): boolean {
    return performance.now() < this.heldUntil;
  }

  /** Saves the progress and renews the lease. Throws like `stateOf`; a renewal saves the progress then. */
  async save(cursor: FeedCursor): Promise<void> {
    this.saved = cursor;
    await this.write(LEASE_MS);
  }

  /** Ends the lease. Throws like `stateOf`. */
  async release(): Promise<void> {
    clearInterval(this.renewal);
    await this.write(0);
  }

  /** Writes one after the other, so that none brings back an earlier cursor. */
  private write(leaseMs: number): Promise<void> {
    const written = this.lastWrite.then(() => this.update(leaseMs));
    this.lastWrite = written.catch(() => undefined);
    return written;
  }

  private async update(leaseMs: number): Promise<void> {
    const startedAt = performance.now();
    const { position, logId } = this.saved;
    const rows = await this.database.change<unknown>(
      `with updated as (
         update ${this.database.table(RelayCheckpoint)}
            set position = $3, id = $4, leased_until = clock_timestamp() + $5::int * interval '1 millisecond'
          where sink = $1 and holder = $2 returning 1)
       select from updated`,
      [this.sink, this.holder, position, logId, leaseMs],
    );
    this.heldUntil = rows.length === 1 ? startedAt + leaseMs - RESERVE_MS : -Infinity;
  }
}
