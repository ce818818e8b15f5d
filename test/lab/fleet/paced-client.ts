import { Agent } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { WAIT_LIMIT } from '../eventually.js';
import { fetchOver } from './certificates.js';
import { Sight } from './sight.js';

const TIME_LOGS = '/api/v1/time-logs';
/** Milliseconds before a create with a key is sent again. */
const PAUSE = 200;
/** What a client does, again and again; creates with and without a key. */
const TURNS = [
  ...['keyed', 'list', 'plain', 'correct', 'keyed', 'total', 'plain', 'get', 'keyed', 'delete'],
  ...['plain', 'list', 'correct', 'keyed', 'total', 'plain', 'list', 'correct', 'get', 'delete'],
] as const;
type Turn = (typeof TURNS)[number];

/** What is seen during one kind of fault, and until the next. */
export class Scene {
  readonly creates = new Sight();
  readonly createsWithKeys = new Sight();
  readonly changes = new Sight();
  readonly reads = new Sight();

  /** Looks on from now. */
  resume(): void {
    for (const sight of [this.creates, this.createsWithKeys, this.changes, this.reads]) sight.resume();
  }

  of(turn: Turn): readonly Sight[] {
    if (turn === 'keyed') return [this.creates, this.createsWithKeys];
    if (turn === 'plain') return [this.creates];
    return turn === 'correct' || turn === 'delete' ? [this.changes] : [this.reads];
  }
}

/** What a project, a day, hours and a text make of a log. */
export interface Values {
  readonly projectId: string;
  readonly duration: number;
  readonly description: string;
  readonly date: string;
}

/** Values, or a row with them, as a text that is the same for the same values. */
export function textOf(values: Omit<Values, 'duration'> & { readonly duration: number | string }): string {
  const { projectId, duration, description, date } = values;
  return [projectId, Number(duration), date, description].join(' ');
}

interface Log {
  readonly id: string;
  readonly values: Values;
}

export interface PacedClientOptions {
  /** The balancers. It takes the next one where a connection is lost. */
  readonly urls: readonly string[];
  readonly ca: string;
  readonly token: string;
  /** Milliseconds between two requests. */
  readonly interval: number;
  readonly scene: () => Scene;
}

/**
 * Works in a project of its own at a steady pace, with one request after the other, and knows what the project must
 * have. What it changed without an answer it leaves alone.
 */
export class PacedClient {
  /** Answers that nothing excuses. */
  readonly strange: string[] = [];
  /** Logs that were deleted, by their ids. */
  readonly deleted: string[] = [];
  private readonly projectId = crypto.randomUUID();
  /** As they were acknowledged last. */
  private readonly logs: Log[] = [];
  /** Ids of logs that were changed without an answer, with all that they may be; undefined: deleted. */
  private readonly doubtful = new Map<string, readonly (string | undefined)[]>();
  /** Logs that were created without a key and without an answer. */
  private readonly unknown = new Set<string>();
  private readonly agent = new Agent({ keepAlive: true });
  private readonly fetch;
  private urls: readonly string[];
  private created = 0;
  private looked = 0;
  private running: Promise<void> = Promise.resolve();
  private isRunning = false;

  constructor(private readonly options: PacedClientOptions) {
    this.urls = options.urls;
    this.fetch = fetchOver({ ca: options.ca }, this.agent);
  }

  start(): void {
    this.isRunning = true;
    this.running = this.run();
    // Told by stop().
    this.running.catch(() => undefined);
  }

  /** Has it finish what it has begun. */
  async stop(): Promise<void> {
    this.isRunning = false;
    await this.running;
    this.agent.destroy();
  }

  /** What is wrong in a table: the logs of each project, as texts by their ids. */
  differencesFrom(table: ReadonlyMap<string, ReadonlyMap<string, string>>): string[] {
    const rows = new Map(table.get(this.projectId));
    const wrong: string[] = [];
    const expectOne = (id: string, possible: readonly (string | undefined)[]) => {
      const found = rows.get(id);
      if (!possible.includes(found)) wrong.push(`${id} is ${found}, not ${possible.join(' or ')}`);
      rows.delete(id);
    };
    for (const { id, values } of this.logs) expectOne(id, [textOf(values)]);
    for (const [id, possible] of this.doubtful) expectOne(id, possible);
    for (const id of this.deleted) expectOne(id, [undefined]);
    const unknown = new Set(this.unknown);
    for (const [id, text] of rows) if (!unknown.delete(text)) wrong.push(`${id} is ${text}, not asked for`);
    return wrong;
  }

  private async run(): Promise<void> {
    const { interval } = this.options;
    // Not all at once, and not all the same.
    let due = performance.now() + Math.random() * interval;
    for (let turn = Math.floor(Math.random() * TURNS.length); this.isRunning; turn++) {
      await delay(Math.max(0, due - performance.now()));
      await this.take(TURNS[turn % TURNS.length]!);
      // What was due during an outage is not made up for.
      due = Math.max(due + interval, performance.now());
    }
  }

  private async take(turn: Turn): Promise<void> {
    if (turn === 'keyed' || turn === 'plain') await this.create(turn);
    else if (turn === 'list') await this.list();
    else if (turn === 'total') await this.total();
    else if (this.logs.length === 0) return;
    else if (turn === 'get') await this.get();
    else await this.change(turn);
  }

  private async create(turn: 'keyed' | 'plain'): Promise<void> {
    const values = this.valuesOf(String(this.created++));
    const headers = turn === 'keyed' ? { 'idempotency-key': `${this.projectId} ${values.description}` } : {};
    const init = { method: 'POST', headers, body: JSON.stringify(values) };
    let log: unknown;
    // What is strange would stay so.
    const mayBeRepeated = () => turn === 'keyed' && this.strange.length === 0;
    while ((log = await this.ask(turn, '', init, 201)) === undefined && mayBeRepeated()) await delay(PAUSE);
    if (log === undefined) this.unknown.add(textOf(values));
    else this.logs.push({ id: this.expectLog(log, values), values });
  }

  private async change(turn: 'correct' | 'delete'): Promise<void> {
    const place = Math.floor(Math.random() * this.logs.length);
    const { id, values } = this.logs[place]!;
    const next = turn === 'correct' ? this.valuesOf(`${values.description}, corrected`) : undefined;
    const init = next ? { method: 'PUT', body: JSON.stringify(next) } : { method: 'DELETE' };
    const answer = await this.ask(turn, `/${id}`, init, next ? 200 : 204);
    if (answer !== undefined && next) {
      this.expectLog(answer, next, id);
      this.logs[place] = { id, values: next };
      return;
    }
    const last = this.logs.pop()!;
    if (place < this.logs.length) this.logs[place] = last;
    if (answer !== undefined) this.deleted.push(id);
    else this.doubtful.set(id, [textOf(values), next && textOf(next)]);
  }

  /** One that is there, or one that is not there any more. */
  private async get(): Promise<void> {
    const gone = this.looked++ % 2 === 0 ? undefined : this.deleted.at(-1);
    if (gone !== undefined) {
      await this.ask('get', `/${gone}`, FROM_PRIMARY, 404);
      return;
    }
    const { id, values } = this.logs[Math.floor(Math.random() * this.logs.length)]!;
    const log = await this.ask('get', `/${id}`, FROM_PRIMARY, 200);
    if (log !== undefined) this.expectLog(log, values, id);
  }

  /** From the standby, which may be behind. */
  private async list(): Promise<void> {
    const page = 1 + (this.looked++ % 3);
    const filter = page === 2 ? '' : `&projectId=${this.projectId}`;
    await this.ask('list', `?limit=50&page=${page}${filter}`, {}, 200);
  }

  private async total(): Promise<void> {
    const path = `/totals?by=month&projectId=${this.projectId}`;
    const totals = await this.ask('total', path, FROM_PRIMARY, 200);
    if (totals === undefined) return;
    const { count } = (totals as { meta: { count: number } }).meta;
    const certain = this.logs.length + [...this.doubtful.values()].filter((all) => all.every(Boolean)).length;
    const most = this.logs.length + this.doubtful.size + this.unknown.size;
    if (count < certain || count > most)
      this.strange.push(`a total of ${count}, not of ${certain} to ${most}`);
  }

  private valuesOf(description: string): Values {
    const [number, { projectId }] = [this.looked++, this];
    const day = String((number % 28) + 1).padStart(2, '0');
    return { projectId, duration: (number % 97) / 8 + 0.1, description, date: `2026-01-${day}` };
  }

  /** The id of the log that is told, which must have these values. */
  private expectLog(body: unknown, values: Values, expected?: string): string {
    const { id, ...told } = (body as { data: Values & { id: string } }).data;
    if (textOf(told) !== textOf(values) || (expected ?? id) !== id)
      this.strange.push(`${id} with ${textOf(told)}, not ${expected ?? 'a log'} with ${textOf(values)}`);
    return id;
  }

  /** The body of the expected answer. Undefined where it is 503, or there is none. */
  private async ask(turn: Turn, path: string, init: RequestInit, expected: number): Promise<unknown> {
    const begun = performance.now();
    const [url] = this.urls;
    const { token } = this.options;
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(init.headers as Record<string, string>),
    };
    const signal = AbortSignal.timeout(WAIT_LIMIT);
    try {
      const answer = await this.fetch(`${url}${TIME_LOGS}${path}`, { ...init, headers, signal });
      const text = await answer.text();
      const sights = this.options.scene().of(turn);
      if (answer.status === expected) {
        for (const sight of sights) sight.note(performance.now() - begun);
        return text === '' ? null : JSON.parse(text);
      }
      if (answer.status === 503 && answer.headers.has('retry-after'))
        for (const sight of sights) sight.refused++;
      else this.strange.push(`${turn}: ${answer.status} ${text}`);
    } catch (error) {
      if (signal.aborted) this.strange.push(`${turn}: ${String(error)}`);
      for (const sight of this.options.scene().of(turn)) sight.closed++;
      if (this.urls[0] === url) this.urls = [...this.urls.slice(1), url!];
    }
    return undefined;
  }
}

/** A standby may not have what was just written. */
const FROM_PRIMARY = { headers: { 'cache-control': 'no-cache' } };
