import type { Database } from '../../../src/database/index.js';
import type { FeedPlace } from '../../../src/feed/index.js';
import { RelayCheckpoint } from './relay-checkpoint.entity.js';
import type { RelayIntervals } from './relay-intervals.js';

/**
 * The duration of a lease. Never increase it: instances of earlier versions would conclude that the
 * clock of the database was set back.
 */
const LEASE_MS = 10_000;
/** The time before the end of a lease at which its holder stops, so that the next one may start. */
const RESERVE_MS = 2_000;
/** SQL: the end of a lease that is taken now. */
const LEASE_END = `clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'`;
/** The place before the first event. */
export const BEGINNING: FeedPlace = { position: '0', logId: '00000000-0000-0000-0000-000000000000' };

interface LeaseObserver {
  /** Called if another instance holds the lease, with the end of it. */
  readonly onTaken: (until: string) => void;
  /** Called if a lease was taken over because the clock of the database was set back. */
  readonly onClockSetBack: (until: string) => void;
}

interface LeaseState {
  readonly isReadOnly: boolean;
  /** The end of the lease of another instance, if it has not expired. */
  readonly until: string | null;
  /** Whether the lease ends later than one that is taken now. */
  readonly isAhead: boolean | null;
}

/**
 * The exclusive right of an instance to publish to a sink, for a few seconds at a time. It is a row
 * that also stores the progress.
 */
export class RelayLease {
  /** The start of the lease, in milliseconds of `performance.now()`. */
  private startedAt = -Infinity;

  private constructor(
    private readonly database: Database,
    private readonly sink: string,
    private readonly holder: string,
    private saved: FeedPlace,
    private readonly intervals: RelayIntervals,
  ) {}

  /**
   * Takes the lease. Returns undefined if another instance holds it, or on a read-only server. A
   * lease that ends later than one taken now is taken over: the clock of the database was set back.
   * Its holder may publish until it renews the lease; then the broker receives some events twice,
   * but their first copies in order. Throws DomainError SERVICE_UNAVAILABLE.
   */
  static async take(
    database: Database,
    sink: string,
    holder: string,
    intervals: RelayIntervals,
    observer: LeaseObserver,
  ): Promise<RelayLease | undefined> {
    const table = database.table(RelayCheckpoint);
    // Reads first: most instances find it taken, and a standby would log the refused update.
    const [state] = await database.query<LeaseState>(
      `select current_setting('transaction_read_only') = 'on' as "isReadOnly",
              other.leased_until::text as until, other.leased_until > ${LEASE_END} as "isAhead"
         from (values (1)) as always left join ${table} as other
           on other.sink = $1 and other.holder <> $2 and other.leased_until > clock_timestamp()`,
      [sink, holder],
    );
    const { isReadOnly, until, isAhead } = state!;
    if (isReadOnly) return undefined;
    if (until !== null && !isAhead) {
      observer.onTaken(until);
      return undefined;
    }
    const startedAt = performance.now();
    const [row] = await database.change<FeedPlace>(
      `insert into ${table} as relay (sink, position, id, holder, leased_until)
       values ($1, $3, $4, $2, ${LEASE_END})
       on conflict (sink) do update set holder = excluded.holder, leased_until = excluded.leased_until
        where relay.holder = excluded.holder or relay.leased_until not between clock_timestamp() and ${LEASE_END}
       returning position, id as "logId"`,
      [sink, holder, BEGINNING.position, BEGINNING.logId],
    );
    if (!row) return undefined;
    if (until !== null) observer.onClockSetBack(until);
    const lease = new RelayLease(database, sink, holder, row, intervals);
    lease.startedAt = startedAt;
    return lease;
  }

  /**
   * Returns the progress of the relay to a sink, whichever instance holds the lease; undefined on a
   * standby, which may be behind. Throws like `take`.
   */
  static async progressOf(database: Database, sink: string): Promise<FeedPlace | undefined> {
    const [row] = await database.query<Partial<FeedPlace> & { isStandby: boolean }>(
      `select pg_is_in_recovery() as "isStandby", relay.position, relay.id as "logId"
         from (values (1)) as always left join ${database.table(RelayCheckpoint)} as relay on relay.sink = $1`,
      [sink],
    );
    const { isStandby, position, logId } = row!;
    if (isStandby) return undefined;
    return position && logId ? { position, logId } : BEGINNING;
  }

  /** The saved progress. */
  get place(): FeedPlace {
    return this.saved;
  }

  /** Whether no other instance can hold the lease, if the clock of the database is not set back. */
  get isHeld(): boolean {
    return performance.now() < this.startedAt + LEASE_MS - RESERVE_MS;
  }

  /** Returns the milliseconds until `saveProgress` is due; 0 if it is. */
  dueIn(place: FeedPlace): number {
    const isSaved = place.position === this.saved.position && place.logId === this.saved.logId;
    const interval = isSaved ? this.intervals.renewal : this.intervals.progress;
    return Math.max(0, this.startedAt + interval - performance.now());
  }

  /** Saves the progress and renews the lease. Returns false if it is lost. Throws like `take`. */
  async saveProgress(place: FeedPlace): Promise<boolean> {
    await this.write(place, LEASE_MS);
    return this.isHeld;
  }

  /** Saves the progress and ends the lease. Throws like `take`. */
  async release(place: FeedPlace): Promise<void> {
    await this.write(place, 0);
    this.startedAt = -Infinity;
  }

  private async write(place: FeedPlace, leaseMs: number): Promise<void> {
    const startedAt = performance.now();
    const rows = await this.database.change<unknown>(
      `with updated as (
         update ${this.database.table(RelayCheckpoint)}
            set position = $3, id = $4, leased_until = clock_timestamp() + $5::int * interval '1 millisecond'
          where sink = $1 and holder = $2 returning 1)
       select from updated`,
      [this.sink, this.holder, place.position, place.logId, leaseMs],
    );
    this.startedAt = rows.length === 1 ? startedAt : -Infinity;
    this.saved = place;
  }
}
