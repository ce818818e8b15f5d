import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ledger } from '../faults/support/ledger.js';
import { Writers } from '../faults/support/writers.js';
import { sendRaw } from '../../support/raw-http.js';

/** Clients of each kind, and the milliseconds that each waits between its requests. */
const CLIENTS = {
  creates: { count: 4, pause: 20 },
  lists: { count: 2, pause: 20 },
  health: { count: 1, pause: 100 },
  badInput: { count: 2, pause: 500 },
  aborts: { count: 1, pause: 200 },
};
const TIME_LOGS = '/api/v1/time-logs';
const JSON_TYPE = { 'content-type': 'application/json' };

interface Bad {
  readonly path?: string;
  readonly status: number;
  readonly init?: RequestInit;
}

const badBody = (body: string | Buffer, status = 400): Bad => ({
  status,
  init: { method: 'POST', body: body as string, headers: JSON_TYPE },
});
const BAD: readonly Bad[] = [
  badBody('{'),
  badBody('[]'),
  badBody('{"duration":0,"unknown":1}'),
  badBody(`{"x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`),
  badBody(Buffer.from('{"description":"\xff"}', 'latin1')),
  badBody(' '.repeat(70_000), 413),
  { status: 415, init: { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } } },
  { status: 400, path: `${TIME_LOGS}?page=0&limit=x&x=1` },
  { status: 404, path: '/nowhere' },
  { status: 405, init: { method: 'DELETE' } },
];

export interface LoadOptions {
  readonly port: number;
  readonly token: string;
  readonly ledger: Ledger;
}

/**
 * Clients of all kinds at a moderate pace, until they are stopped; while the database is away `503` is right where it
 * is needed.
 */
export class Load {
  /** Requests that were answered, but for creates, of which the ledger knows. */
  others = 0;
  /** Answers that nothing excuses. */
  readonly unexpected: string[] = [];
  private readonly writers: Writers;
  private running: AbortController | undefined;
  private clients: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: LoadOptions) {
    this.writers = new Writers({ token: options.token, ledger: options.ledger });
    this.writers.aim(options.port);
  }

  start(): void {
    const running = new AbortController();
    this.running = running;
    const { ledger } = this.options;
    const acts: Record<keyof typeof CLIENTS, () => Promise<unknown>> = {
      creates: () => this.writers.record(ledger.intend()),
      lists: () => this.expect([200, 503], `${TIME_LOGS}?from=2011-01-01&limit=20`),
      health: () => this.expect([200, 503], '/health'),
      badInput: () => this.sendBad(),
      aborts: () => this.abort(),
    };
    const work = async (act: () => Promise<unknown>, pause: number) => {
      while (!running.signal.aborted) {
        await act();
        await delay(pause);
      }
    };
    this.clients = Promise.all(
      Object.entries(CLIENTS).flatMap(([kind, { count, pause }]) =>
        Array.from({ length: count }, () => work(acts[kind as keyof typeof CLIENTS], pause)),
      ),
    );
    // Told by stop().
    this.clients.catch(() => undefined);
  }

  /** Has all clients finish what they have begun. */
  async stop(): Promise<void> {
    this.running?.abort();
    await this.clients;
    await this.writers.stop();
  }

  /** Sends a whole create and is gone before the answer. */
  async abort(): Promise<void> {
    const { port, token, ledger } = this.options;
    const log = ledger.intend();
    const body = JSON.stringify(log);
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(
      `POST ${TIME_LOGS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      () => socket.resetAndDestroy(),
    );
    ledger.settle(log, { kind: 'cut' }, 0);
  }

  private async sendBad(): Promise<void> {
    for (const { path = TIME_LOGS, status, init } of BAD) await this.expect([status], path, init);
    const stranger = { authorization: `Bearer tl_${randomBytes(32).toString('base64url')}` };
    await this.expect([401, 503], TIME_LOGS, { headers: stranger });
    const raw = await sendRaw(this.options.port, 'nonsense\r\n\r\n');
    this.note([400], Number(raw.slice(9, 12)), raw);
  }

  private async expect(statuses: readonly number[], path: string, init: RequestInit = {}): Promise<void> {
    const { port, token } = this.options;
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
      });
      this.note(statuses, response.status, await response.text());
    } catch (error) {
      this.unexpected.push(`${path}: ${String(error)}`);
    }
  }

  private note(statuses: readonly number[], status: number, text: string): void {
    this.others++;
    if (!statuses.includes(status)) this.unexpected.push(`${status} ${text}`);
  }
}
