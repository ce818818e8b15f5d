import { DomainError } from '../../../libs/errors/src/index.js';
import { type ExportRepository } from '../../../src/export/index.js';
import {
  cloudEventOf,
  type FeedPlace,
  type FeedRepository,
  parseEventId,
  type TimeLogEvent,
} from '../../../src/feed/index.js';
import { ALL_PROJECTS, Period, TimeLog } from '../../../src/time-log/index.js';

/** The ids of events with what each has told, by all readers. */
type Told = Map<string, string>;

/**
 * A reader of the feed that keeps a copy of the logs: it sets and removes them, and begins anew where it is told to.
 */
export class Copy {
  protected readonly logs = new Map<string, string>();
  protected place: FeedPlace | undefined;
  /** How often it was told to begin anew. */
  begun = 0;

  constructor(
    private readonly source: { readonly feed: Pick<FeedRepository, 'eventsAfter'> },
    private readonly limit: number,
    private readonly told: Told,
  ) {}

  /** The logs, by id. */
  get rows(): Record<string, string> {
    return Object.fromEntries([...this.logs].toSorted());
  }

  /** Applies the next page, and returns it. Throws an Error where an event's id has told something else before. */
  async next(): Promise<readonly TimeLogEvent[]> {
    const events = await this.source.feed.eventsAfter(this.place, this.limit).catch((error: unknown) => {
      if (!(error instanceof DomainError && error.code === 'GONE') || this.place === undefined) throw error;
      this.logs.clear();
      this.place = undefined;
      this.begun++;
      return undefined;
    });
    if (events === undefined) return this.next();
    for (const event of events) this.apply(event);
    return events;
  }

  /** Reads to the end. Returns the events that it has read. */
  async readOn(): Promise<TimeLogEvent[]> {
    const all: TimeLogEvent[] = [];
    for (let page = await this.next(); page.length > 0; page = await this.next()) all.push(...page);
    return all;
  }

  private apply(event: TimeLogEvent): void {
    const { id, position, log } = event;
    const text = JSON.stringify(cloudEventOf(event));
    if ((this.told.get(id) ?? text) !== text)
      throw new Error(`${id} told ${this.told.get(id)}, and then ${text}`);
    this.told.set(id, text);
    if (log instanceof TimeLog) this.logs.set(log.id, rowOf(log));
    else this.logs.delete(log.id);
    this.place = { position, logId: log.id };
  }
}

/** A copy that starts again and again, each time with an export. */
export class ExportedCopy extends Copy {
  private calls = 0;

  constructor(
    source: ConstructorParameters<typeof Copy>[0],
    limit: number,
    told: Told,
    private readonly exports: ExportRepository,
    /** How much too high its place is. */
    private readonly excess = 0n,
  ) {
    super(source, limit, told);
  }

  override async next(): Promise<readonly TimeLogEvent[]> {
    if (this.calls++ % 5 === 0 || this.place === undefined) await this.fill();
    return super.next();
  }

  private async fill(): Promise<void> {
    const request = { filter: { period: Period.of() }, format: 'ndjson', access: ALL_PROJECTS } as const;
    await this.exports.export(request, async ({ content, lastEventId }) => {
      const { position, logId } = parseEventId(lastEventId!);
      const parts: Uint8Array[] = [];
      for await (const part of content) parts.push(part);
      this.logs.clear();
      for (const line of Buffer.concat(parts).toString().split('\n').slice(0, -1)) {
        const log = JSON.parse(line) as TimeLog;
        this.logs.set(log.id, rowOf(log));
      }
      this.place = { position: String(BigInt(position) + this.excess), logId };
    });
  }
}

/** What a copy has of a log, to be compared with `ROWS`. */
function rowOf({ projectId, duration, description, date }: TimeLog): string {
  return [projectId, duration, description, date].join(' ');
}

/** The logs of the table in that form. */
export const ROWS = `
  select id, concat_ws(' ', project_id, trim_scale(duration), description, date) as row from time_logs order by id::text`;
