import { expect } from '@jest/globals';
import { DomainError } from '../../../libs/errors/src/index.js';
import { type ExportRepository } from '../../../src/export/index.js';
import {
  cloudEventOf,
  type FeedPage,
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
  protected place: string | undefined;
  private isAtEnd = false;
  /** How often it was told to begin anew. */
  begun = 0;

  constructor(
    private readonly source: { readonly feed: Pick<FeedRepository, 'eventsAfter' | 'eventsOfProjects'> },
    private readonly limit: number,
    private readonly told: Told,
    /** Reads of these alone, if it is given. */
    readonly projects?: readonly string[],
  ) {}

  /** The logs, by id. */
  get rows(): Record<string, string> {
    return Object.fromEntries([...this.logs].toSorted());
  }

  /** Applies the next page, and returns it. Throws an Error where an event's id has told something else before. */
  async next(): Promise<readonly TimeLogEvent[]> {
    const page = await this.read().catch((error: unknown) => {
      if (!(error instanceof DomainError && error.code === 'GONE') || this.place === undefined) throw error;
      this.logs.clear();
      this.place = undefined;
      this.begun++;
      return undefined;
    });
    if (page === undefined) return this.next();
    for (const event of page.events) this.apply(event);
    this.place = page.next;
    this.isAtEnd = page.isLast;
    return page.events;
  }

  /** Reads to the end. Returns the events that it has read. */
  async readOn(): Promise<TimeLogEvent[]> {
    const all: TimeLogEvent[] = [];
    do all.push(...(await this.next()));
    while (!this.isAtEnd);
    return all;
  }

  private async read(): Promise<FeedPage> {
    if (this.projects) return this.source.feed.eventsOfProjects(this.projects, this.place, this.limit);
    const start = this.place === undefined ? undefined : parseEventId(this.place);
    const events = await this.source.feed.eventsAfter(start, this.limit);
    return { events, next: events.at(-1)?.id ?? this.place, isLast: events.length === 0 };
  }

  private apply(event: TimeLogEvent): void {
    const { id, log } = event;
    const text = JSON.stringify(cloudEventOf(event));
    // An event with this id may say to readers of one project that its log has left, and to others where it is.
    if (!this.projects && (this.told.get(id) ?? text) !== text)
      throw new Error(`${id} told ${this.told.get(id)}, and then ${text}`);
    if (this.projects) expect(this.projects).toContain(log.projectId);
    else this.told.set(id, text);
    if (log instanceof TimeLog) this.logs.set(log.id, rowOf(log));
    else this.logs.delete(log.id);
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
      this.place = `${BigInt(position) + this.excess}-${logId}`;
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
