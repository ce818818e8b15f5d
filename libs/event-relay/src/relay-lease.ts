import type { Database } from '../../../src/database/index.js';
import type { FeedPlace } from '../../../src/feed/index.js';
import { RelayCheckpoint } from './relay-checkpoint.entity.js';
import type { RelayIntervals } from './relay-intervals.js';

/**
 * Milliseconds for which a lease is given. Never make it longer: older instances would take such a lease for one from
 * the future.
 */
const LEASE = 10_000;
/** Milliseconds of it that its holder leaves unused: it must stop before the next one starts. */
const RESERVE = 2_000;
/** When a lease ends that is taken now. */
const END = `clock_timestamp() + ${LEASE} * interval '1 millisecond'`;
/** Before the first event. */
export const BEGINNING: FeedPlace = { position: '0', logId: '00000000-0000-0000-0000-000000000000' };

interface Told {
  /** Another instance has the lease, and this one waits until then. */
  readonly isTaken: (until: string) => void;
  /** The lease was free although it ends only then: the clock of the database has gone back. */
  readonly wasAhead: (until: string) => void;
}

interface Seen {
  readonly isReadOnly: boolean;
  /** When the lease of another instance ends, if that is to come. */
  readonly until: string | null;
  /** Whether that is later than any lease can end that was taken on this clock. */
  readonly isAhead: boolean | null;
}

/** The right of one instance to publish to a sink, for a few seconds at a time. It is a row, with how far it got. */
export class RelayLease {
  /** On the clock of `performance`. */
  private begun = -Infinity;

  private constructor(
    private readonly database: Database,
    private readonly sink: string,
    private readonly holder: string,
    private noted: FeedPlace,
    private readonly intervals: RelayIntervals,
  ) {}

  /**
   * Takes the lease where nobody else has it. Undefined where somebody has, and on a server that takes no changes.
   * One that ends later than any that is taken now is free: the clock of the database went back. The instance that had
   * it may publish until it renews it; then the broker gets some events twice, and the first of each still in order.
   * Throws DomainError SERVICE_UNAVAILABLE.
   */
  static async take(
    database: Database,
    sink: string,
    holder: string,
    intervals: RelayIntervals,
    told: Told,
  ): Promise<RelayLease | undefined> {
    const table = database.table(RelayCheckpoint);
    // Looks first: most instances find it taken, and a change that a standby refuses would be an alarm.
    const [seen] = await database.query<Seen>(
      `select current_setting('transaction_read_only') = 'on' as "isReadOnly",
              other.leased_until::text as until, other.leased_until > ${END} as "isAhead"
         from (values (1)) as always left join ${table} as other
           on other.sink = $1 and other.holder <> $2 and other.leased_until > clock_timestamp()`,
      [sink, holder],
    );
    const { isReadOnly, until, isAhead } = seen!;
    if (isReadOnly) return undefined;
    if (until !== null && !isAhead) {
      told.isTaken(until);
      return undefined;
    }
    const begun = performance.now();
    const [row] = await database.change<FeedPlace>(
      `insert into ${table} as relay (sink, position, id, holder, leased_until)
       values ($1, $3, $4, $2, ${END})
       on conflict (sink) do update set holder = excluded.holder, leased_until = excluded.leased_until
        where relay.holder = excluded.holder or relay.leased_until not between clock_timestamp() and ${END}
       returning position, id as "logId"`,
      [sink, holder, BEGINNING.position, BEGINNING.logId],
    );
    if (!row) return undefined;
    if (until !== null) told.wasAhead(until);
    const lease = new RelayLease(database, sink, holder, row, intervals);
    lease.begun = begun;
    return lease;
  }

  /**
   * How far the relay to a sink got, whoever has its lease; undefined on a standby, which may not know. Throws like
   * `take`.
   */
  static async placeOf(database: Database, sink: string): Promise<FeedPlace | undefined> {
    const [row] = await database.query<Partial<FeedPlace> & { isStandby: boolean }>(
      `select pg_is_in_recovery() as "isStandby", noted.position, noted.id as "logId"
         from (values (1)) as always left join ${database.table(RelayCheckpoint)} as noted on noted.sink = $1`,
      [sink],
    );
    const { isStandby, position, logId } = row!;
    if (isStandby) return undefined;
    return position && logId ? { position, logId } : BEGINNING;
  }

  /** How far the last holder got. */
  get place(): FeedPlace {
    return this.noted;
  }

  /** Whether it is certain that nobody else has it, as long as the clock of the database was not set back. */
  get isHeld(): boolean {
    return performance.now() < this.begun + LEASE - RESERVE;
  }

  /** Milliseconds until `note` is due; 0 where it is. */
  dueIn(place: FeedPlace): number {
    const isNoted = place.position === this.noted.position && place.logId === this.noted.logId;
    const pause = isNoted ? this.intervals.renewal : this.intervals.progress;
    return Math.max(0, this.begun + pause - performance.now());
  }

  /** Notes how far it got, and renews the lease; false where somebody else has it meanwhile. Throws like `take`. */
  async note(place: FeedPlace): Promise<boolean> {
    await this.write(place, LEASE);
    return this.isHeld;
  }

  /** Notes how far it got, and gives the lease up. Throws like `take`. */
  async giveUp(place: FeedPlace): Promise<void> {
    await this.write(place, 0);
    this.begun = -Infinity;
  }

  private async write(place: FeedPlace, milliseconds: number): Promise<void> {
    const begun = performance.now();
    const rows = await this.database.change<unknown>(
      `with noted as (
         update ${this.database.table(RelayCheckpoint)}
            set position = $3, id = $4, leased_until = clock_timestamp() + $5::int * interval '1 millisecond'
          where sink = $1 and holder = $2 returning 1)
       select from noted`,
      [this.sink, this.holder, place.position, place.logId, milliseconds],
    );
    this.begun = rows.length === 1 ? begun : -Infinity;
    this.noted = place;
  }
}
