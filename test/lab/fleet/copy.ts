import { type RecordedTimeLog, TimeLogClient, TimeLogError } from '@time-logs/client';
import { fetchOver } from './certificates.js';
import { textOf } from './paced-client.js';

/** Milliseconds between two looks at the feed. */
const WAIT = 1_000;

/** A copy of the logs that the shipped client keeps by the feed, and that goes on whatever happens. */
export class Copy {
  events = 0;
  /** How often the client gave up, and was asked to go on. */
  interrupted = 0;
  /** What no outage excuses. */
  readonly strange: string[] = [];
  private readonly logs = new Map<string, RecordedTimeLog>();
  private last: string | undefined;
  private readonly end = new AbortController();
  private readonly client: TimeLogClient;
  private readonly following: Promise<void>;

  /** With these further headers it may read from the primary. */
  constructor(
    { urls, ca }: { readonly urls: string[]; readonly ca: string },
    token: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    const ask = fetchOver({ ca });
    this.client = new TimeLogClient({
      baseUrl: urls,
      token,
      fetch: (url, init) =>
        ask(url, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...headers } }),
    });
    this.following = this.follow();
  }

  async stop(): Promise<void> {
    this.end.abort();
    await this.following;
  }

  /** The ids of logs that it lacks, has too many, or has with other values. */
  differencesFrom(stored: ReadonlyMap<string, string>): string[] {
    const lost = [...stored].filter(([id, text]) => textIn(this.logs.get(id)) !== text);
    const invented = [...this.logs].filter(([id]) => !stored.has(id));
    return [...lost, ...invented].map(([id]) => id);
  }

  private async follow(): Promise<void> {
    const { signal } = this.end;
    while (!signal.aborted && this.strange.length === 0)
      try {
        const options = { after: this.last, wait: WAIT, pageSize: 1_000, signal };
        for await (const { id } of this.client.follow(this.logs, options)) {
          this.last = id;
          this.events++;
        }
      } catch (error) {
        const code = error instanceof TimeLogError ? error.code : undefined;
        if (code === 'NO_ANSWER' || code === 'SERVICE_UNAVAILABLE') this.interrupted++;
        else if (code !== 'ABORTED') this.strange.push(`a follower: ${String(error)}`);
      }
  }
}

const textIn = (log: RecordedTimeLog | undefined) => log && textOf(log);
