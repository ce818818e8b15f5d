import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, PageRequest, Values, Write } from './history.js';

/** Few, so that logs move between them, and each fits on one page. */
const PROJECTS = Array.from({ length: 4 }, () => randomUUID());
/** The most logs of a page. */
const LARGEST = 1_000;
/** Milliseconds before somebody who got no answer asks again. */
const PAUSE = 50;
/** Milliseconds between two requests of a client: what thousands were told is held against each other. */
const PACE = 10;
/** Milliseconds after which nobody waits for an answer any more. */
const PATIENCE = 10_000;

/** Where requests go: the services of a moment. */
export interface Services {
  readonly urls: () => readonly string[];
  /** Reads from a standby. */
  readonly reader?: () => string;
  /** How often the standby has started again: from the files it comes back older than what it had shown. */
  readonly starts?: () => number;
}

interface Item {
  readonly id: string;
  readonly projectId: string;
  readonly duration: number;
  readonly description: string;
}
interface Event {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly data: Item;
}
interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly begin: number;
  readonly end: number;
  /** Of the standby, when it was asked. */
  readonly start: number;
}
type How = Pick<PageRequest, 'reader' | 'isBehind'>;

const one = <T>(of: readonly T[]): T => of[randomInt(of.length)]!;
const valuesOf = ({ projectId, duration }: Values): Values => ({ projectId, duration });

/** Clients that write and read all the time, and what each of them asked and was answered. */
export class Chronicle {
  readonly writes = new Map<string, Write[]>();
  readonly answers: Answer[] = [];
  /** Answers that are neither what was asked for nor 503. */
  readonly unexpected: string[] = [];
  /** The events that each follower was given, in order. */
  readonly followed: Event[][] = [];
  /** How many writes somebody was told of. */
  told = 0;
  /** Logs that somebody was told of. */
  private readonly known: { readonly name: string; readonly id: string }[] = [];
  private isGoingOn = true;
  private isFollowing = true;
  private readonly clients: Promise<void>[] = [];
  private readonly followers: Promise<void>[] = [];

  constructor(
    private readonly token: string,
    private readonly services: Services,
  ) {}

  start({ writers = 6, readers = 3, behind = 0, followers = 0 } = {}): void {
    const many = (count: number, client: (index: number) => Promise<void>) => {
      for (let index = 0; index < count; index++) this.clients.push(client(index));
    };
    many(writers, (index) => this.write(index % 2 === 0));
    many(readers, (index) => this.read(`reader ${index}`, () => one(this.services.urls()), false));
    many(behind, (index) => this.read(`standby reader ${index}`, this.services.reader!, true));
    for (let index = 0; index < followers; index++) this.followers.push(this.follow());
  }

  /** Ends all but the followers: what was written last comes to them when no transaction is open any more. */
  async stop(): Promise<void> {
    this.isGoingOn = false;
    await Promise.all(this.clients);
  }

  async stopFollowing(): Promise<void> {
    this.isFollowing = false;
    await Promise.all(this.followers);
  }

  /** All logs by their ids, of a request for each project. */
  async all(): Promise<Map<string, Item>> {
    const logs = new Map<string, Item>();
    for (const projectId of PROJECTS) {
      const { status, body } = await this.ask(
        this.services.urls()[0]!,
        `?projectId=${projectId}&limit=${LARGEST}`,
      );
      const { data, meta } = body as { data: Item[]; meta: { total: number } };
      if (status !== 200 || meta.total > LARGEST) throw new Error(`${status}: ${meta.total} logs`);
      for (const log of data) logs.set(log.id, log);
    }
    return logs;
  }

  /** Records logs and changes those of its own, one after the other. */
  private async write(isKeyed: boolean): Promise<void> {
    while (this.isGoingOn) {
      const name = randomUUID();
      const writes: Write[] = [];
      this.writes.set(name, writes);
      const id = await this.record(name, writes, isKeyed);
      let isTold = id !== undefined;
      for (let left = randomInt(4); isTold && left > 0; left--)
        isTold = await this.change(name, id!, writes, left === 1 && randomInt(2) === 0);
      await delay(PACE);
    }
  }

  /** The id, where its end is known. */
  private async record(name: string, writes: Write[], isKeyed: boolean): Promise<string | undefined> {
    const values = anyValues();
    const write: Write = { begin: performance.now(), values };
    writes.push(write);
    const body = bodyOf(name, values);
    const headers: Record<string, string> = isKeyed ? { 'idempotency-key': name } : {};
    for (;;) {
      const {
        status,
        body: answer,
        end,
      } = await this.ask(one(this.services.urls()), '', { method: 'POST', headers, body });
      if (status === 201) {
        const { id } = (answer as { data: Item }).data;
        this.known.push({ name, id });
        this.tell(write, end);
        return id;
      }
      this.expectNoAnswer(status, `create ${name}`);
      // Whoever has a key asks until they know.
      if (!isKeyed || !this.isGoingOn) return undefined;
      await delay(PAUSE);
    }
  }

  private async change(name: string, id: string, writes: Write[], isDeletion: boolean): Promise<boolean> {
    const values = anyValues();
    const write: Write = { begin: performance.now(), ...(!isDeletion && { values }) };
    writes.push(write);
    const sending = isDeletion ? { method: 'DELETE' } : { method: 'PUT', body: bodyOf(name, values) };
    const { status, end } = await this.ask(one(this.services.urls()), `/${id}`, sending);
    if (status === (isDeletion ? 204 : 200)) {
      this.tell(write, end);
      return true;
    }
    this.expectNoAnswer(status, `${sending.method} ${name}`);
    return false;
  }

  private tell(write: Write, end: number): void {
    write.end = end;
    this.told++;
  }

  private async read(reader: string, url: () => string, isBehind: boolean): Promise<void> {
    const how = { reader, ...(isBehind && { isBehind }) };
    while (this.isGoingOn) {
      const projectId = one([...PROJECTS, undefined]);
      const filter = projectId === undefined ? '' : `&projectId=${projectId}`;
      const kind = one(['page', 'pages', 'sums', 'one'] as const);
      if (kind === 'page') await this.readPage(url(), how, filter, projectId, LARGEST, 1);
      else if (kind === 'pages') {
        let before: PageRequest | undefined;
        for (let page = 1; page === 1 || (before && page <= 3); page++)
          before = await this.readPage(url(), how, filter, projectId, 20, page, before);
      } else if (kind === 'sums') await this.readSums(url(), how, filter, projectId);
      else await this.readOne(url(), how);
      await delay(PACE);
    }
  }

  private async readPage(
    url: string,
    how: How,
    filter: string,
    projectId: string | undefined,
    limit: number,
    page: number,
    before?: PageRequest,
  ): Promise<PageRequest | undefined> {
    const reply = await this.ask(url, `?limit=${limit}&page=${page}${filter}`);
    if (!this.isRead(reply, 'a list')) return undefined;
    const { data, meta } = reply.body as { data: Item[]; meta: { total: number } };
    const items = data.map(({ description, ...item }) => ({ name: description, ...valuesOf(item) }));
    const look = lookOf(how, reply);
    if (before && before.reader !== look.reader) return undefined;
    const isLast = meta.total <= page * limit;
    const answer: PageRequest = {
      kind: 'page',
      ...look,
      projectId,
      total: meta.total,
      items,
      before,
      isLast,
    };
    this.answers.push(answer);
    return answer;
  }

  private async readSums(
    url: string,
    how: How,
    filter: string,
    projectId: string | undefined,
  ): Promise<void> {
    const reply = await this.ask(url, `/totals?by=project&limit=100${filter}`);
    if (!this.isRead(reply, 'totals')) return;
    const { meta } = reply.body as { meta: { count: number; duration: number } };
    const { count, duration: sum } = meta;
    this.answers.push({ kind: 'sums', ...lookOf(how, reply), projectId, count, sum });
  }

  private async readOne(url: string, how: How): Promise<void> {
    // A log of the last few, which somebody may be changing.
    const log = this.known.at(-1 - randomInt(20));
    if (!log) return;
    const { name, id } = log;
    const reply = await this.ask(url, `/${id}`);
    const { status, body } = reply;
    if (!this.isRead(reply, 'one log', 404)) return;
    const values = status === 404 ? undefined : valuesOf((body as { data: Item }).data);
    this.answers.push({ kind: 'one', ...lookOf(how, reply), name, values });
  }

  private async follow(): Promise<void> {
    const events: Event[] = [];
    this.followed.push(events);
    while (this.isFollowing) {
      const last = events.at(-1);
      const place = last ? `&lastEventId=${last.id}` : '';
      const reply = await this.ask(one(this.services.urls()), `/events?limit=100${place}`);
      const more = this.isRead(reply, 'the feed') ? (reply.body as Event[]) : [];
      events.push(...more);
      if (more.length === 0) await delay(PAUSE);
    }
  }

  private isRead({ status, start }: Reply, what: string, other = 200): boolean {
    // Nobody knows which of the two gave it.
    if (start !== this.standbyStart) return false;
    if (status === 200 || status === other) return true;
    this.expectNoAnswer(status, what);
    return false;
  }

  private get standbyStart(): number {
    return this.services.starts?.() ?? 0;
  }

  private expectNoAnswer(status: number, what: string): void {
    if (status !== 0 && status !== 503) this.unexpected.push(`${what}: ${status}`);
  }

  /** Status 0: no answer. */
  private async ask(
    url: string,
    path: string,
    { headers = {}, ...init }: { method?: string; body?: string; headers?: Record<string, string> } = {},
  ): Promise<Reply> {
    const [begin, start] = [performance.now(), this.standbyStart];
    const reply = (status: number, body?: unknown): Reply => ({
      status,
      body,
      begin,
      end: performance.now(),
      start,
    });
    try {
      const response = await fetch(`${url}/api/v1/time-logs${path}`, {
        ...init,
        headers: { ...headers, authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
        signal: AbortSignal.timeout(PATIENCE),
      });
      const text = await response.text();
      return reply(response.status, text === '' ? undefined : JSON.parse(text));
    } catch {
      return reply(0);
    }
  }
}

const lookOf = ({ reader, isBehind }: How, { begin, end, start }: Reply) => ({
  reader: `${reader}, start ${start}`,
  ...(isBehind && { isBehind }),
  begin,
  end,
});

function anyValues(): Values {
  return { projectId: one(PROJECTS), duration: 1 + randomInt(1_000) };
}

const bodyOf = (name: string, values: Values) =>
  JSON.stringify({ ...values, description: name, date: `2026-01-${10 + randomInt(20)}` });
