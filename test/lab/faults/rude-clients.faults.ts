import { randomBytes, randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { timesOf } from '../../support/extent.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { eventually } from '../eventually.js';
import { filesOf } from './support/process-usage.js';
import { TOKEN, underWrites } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

/** Requests a second, and slow sockets at a time: twice, with headers and with bodies. */
const RATES = { wrongTokens: 1_000, aborts: 20, slow: 25 };
const WRONG_TOKENS = timesOf(100_000, 5_000);
const POOL_SIZE = 10;
/** Files and sockets that a service opens when it first needs them, such as the connections of its pool. */
const OWN_FILES = 20;

const TICK_MS = 10;
/** Connections for the wrong tokens. */
const GUESSERS = 16;
const POST = `POST /api/v1/time-logs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`;

/** Clients that abuse a service at fixed rates, and what it has answered. */
class Abuse {
  wrongTokens = 0;
  aborts = 0;
  timedOut = 0;
  readonly otherAnswers: string[] = [];
  private readonly sockets = new Set<Socket>();
  /** Connections without a request under way. */
  private readonly free: Socket[] = [];
  /** Requests of which a byte comes each second. */
  private readonly slow = new Map<Socket, string>();
  private readonly timers: NodeJS.Timeout[];

  constructor(private readonly port: number) {
    const begun = performance.now();
    const due = { wrongTokens: 0, aborts: 0 };
    for (let i = 0; i < GUESSERS; i++) this.openGuesser();
    for (let i = 0; i < RATES.slow; i++) {
      this.sendSlowly(POST, 'X-Slow: x\r\n');
      this.sendSlowly(`${POST}Content-Length: 1000\r\n\r\n{`, ' ');
    }
    const act = () => {
      const seconds = (performance.now() - begun) / 1_000;
      // While all wait for an answer, what is due stays due.
      for (; due.wrongTokens < seconds * RATES.wrongTokens && this.free.length > 0; due.wrongTokens++)
        this.free
          .pop()!
          .write(
            `GET /api/v1/time-logs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer tl_${randomBytes(32).toString('base64url')}\r\n\r\n`,
          );
      for (; due.aborts < seconds * RATES.aborts; due.aborts++) this.abort();
    };
    const drip = () => this.slow.forEach((drop, socket) => socket.writable && socket.write(drop));
    this.timers = [setInterval(act, TICK_MS), setInterval(drip, 1_000)];
  }

  end(): void {
    for (const timer of this.timers) clearInterval(timer);
    this.slow.clear();
    for (const socket of this.sockets) socket.destroy();
  }

  private open(): Socket {
    const socket = connect({ port: this.port, host: '127.0.0.1', noDelay: true });
    this.sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
  }

  /** Opens a connection that asks with one wrong token after the other. */
  private openGuesser(): void {
    const socket = this.open();
    socket.on('connect', () => this.free.push(socket));
    socket.on('data', (answer) => {
      this.wrongTokens++;
      this.expect(answer, 401);
      this.free.push(socket);
    });
  }

  /** Sends a whole create, whose client is gone before the answer. */
  private abort(): void {
    const log = JSON.stringify({
      projectId: randomUUID(),
      duration: 1,
      description: 'aborted',
      date: '2026-01-31',
    });
    const socket = this.open();
    this.aborts++;
    socket.on('connect', () =>
      socket.write(`${POST}Content-Length: ${log.length}\r\n\r\n${log}`, () => socket.resetAndDestroy()),
    );
  }

  /** Sends a request slowly, again each time that the service has ended it. */
  private sendSlowly(beginning: string, drop: string): void {
    const socket = this.open();
    socket.write(beginning);
    socket.on('data', (answer) => {
      this.timedOut++;
      this.expect(answer, 408);
    });
    socket.on('close', () => this.slow.delete(socket) && this.sendSlowly(beginning, drop));
    this.slow.set(socket, drop);
  }

  private expect(answer: Buffer, status: number): void {
    const line = answer.toString('latin1', 0, 12);
    if (line !== `HTTP/1.1 ${status}`) this.otherAnswers.push(line);
  }
}

describe('a service with rude clients', () => {
  const postgres = useCluster();

  it(`serves others during ${WRONG_TOKENS} wrong tokens, slow headers, slow bodies and aborted creates, refuses the slow with 408, and leaks nothing`, () =>
    underWrites(
      { database: postgres, writers: 4, pace: 20 },
      async ({ service: { port, child }, url, writers, ledger }) => {
        await writers.acknowledge(200);
        const before = await filesOf(child.pid!);
        const abuse = new Abuse(port);
        try {
          await eventually(() => {
            expect(abuse.wrongTokens).toBeGreaterThanOrEqual(WRONG_TOKENS);
            expect(abuse.timedOut).toBeGreaterThanOrEqual(2 * RATES.slow);
          });
          await writers.acknowledge(200);
          abuse.end();
          expect(abuse.otherAnswers).toEqual([]);
          expect([ledger.count('refused'), ledger.count('cut')]).toEqual([0, 0]);
          await eventually(async () =>
            expect(await filesOf(child.pid!)).toBeLessThanOrEqual(before + OWN_FILES),
          );
          const ours = `select from pg_stat_activity where application_name = 'time-logs'`;
          expect((await queryOnce(url, ours)).length).toBeLessThanOrEqual(POOL_SIZE);
          // A create may be stored although its client was gone.
          const aborted = `delete from time_logs where description = 'aborted' returning id`;
          const stored = await queryOnce(url, aborted);
          expect(stored.length).toBeLessThanOrEqual(abuse.aborts);
          await writers.acknowledge(200);
          expect(ledger.count('refused')).toBe(0);
        } finally {
          abuse.end();
        }
      },
    ));
});
