import { Agent, type IncomingMessage, request } from 'node:http';
import { Agent as TlsAgent, request as requestOverTls } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { eventually } from '../../../support/eventually.js';
import { parsed } from '../../../support/raw-http.js';
import type { AnsweredLog, IntendedLog, Ledger, Outcome } from './ledger.js';

/** The delay of a writer before it tries again: short, so that an outage meets many requests. */
const RETRY_DELAY_MS = 20;

/** That of each log of a create, or one for all of them. */
type Outcomes = readonly [Outcome, ...Outcome[]];

export interface WritersOptions {
  readonly token: string;
  readonly ledger: Ledger;
  /** How many write at the same time, each on a connection that it keeps. */
  readonly count?: number | undefined;
  /** Sends an Idempotency-Key with each create and repeats it with the same key until it is acknowledged. */
  readonly areKeyed?: boolean;
  /** Milliseconds that each waits after an acknowledged create. */
  readonly pace?: number;
  /** The CA of the service, in PEM: it is reached over TLS, and is called localhost. */
  readonly ca?: string;
}

/** Clients that create logs one after the other until they are stopped, and note the answers in the ledger. */
export class Writers {
  private readonly agent: Agent | TlsAgent;
  private writing: Promise<unknown> = Promise.resolve();
  private isWriting = false;
  private port = 0;

  constructor(private readonly options: WritersOptions) {
    const { ca } = options;
    this.agent = ca
      ? new TlsAgent({ keepAlive: true, ca, servername: 'localhost' })
      : new Agent({ keepAlive: true });
  }

  /** Has them write to a port of loopback from now on. */
  aim(port: number): void {
    this.port = port;
  }

  start(): void {
    this.isWriting = true;
    const count = this.options.count ?? 8;
    this.writing = Promise.all(Array.from({ length: count }, () => this.write()));
  }

  /** Has them finish what they have begun. */
  async stop(): Promise<void> {
    this.isWriting = false;
    await this.writing;
    this.agent.destroy();
  }

  async until(holds: () => boolean, what: string): Promise<void> {
    await eventually(() => {
      if (!holds()) throw new Error(what);
    });
  }

  /** Resolves when a number of further creates have been acknowledged. */
  async acknowledge(count: number): Promise<void> {
    const { acknowledged } = this.options.ledger;
    const target = acknowledged.size + count;
    await this.until(() => acknowledged.size >= target, `${count} more acknowledged creates`);
  }

  private async write(): Promise<void> {
    const { pace = 0 } = this.options;
    while (this.isWriting) {
      const logs = this.options.ledger.intendAll();
      let outcome: Outcome | undefined;
      do {
        outcome = await this.record(...logs);
        const pause = outcome?.kind === 'acknowledged' ? pace : RETRY_DELAY_MS;
        if (pause > 0) await delay(pause);
      } while (!this.isSettled(outcome));
    }
  }

  private isSettled(outcome: Outcome | undefined): boolean {
    // Never sent: nobody knows of it, so the same log is tried again.
    if (outcome === undefined) return !this.isWriting;
    return !this.options.areKeyed || outcome.kind === 'acknowledged' || outcome.kind === 'unexpected';
  }

  /**
   * Creates one log, or a batch, and notes the outcome: of a batch, returns that of its first log; undefined where
   * there was no connection to send it on.
   */
  async record(...logs: [IntendedLog, ...IntendedLog[]]): Promise<Outcome | undefined> {
    const { ledger } = this.options;
    const outcomes = await this.send(logs);
    if (outcomes === undefined) ledger.inFlight.delete(logs[0].description);
    else for (const [index, log] of logs.entries()) ledger.settle(log, outcomes[index] ?? outcomes[0]);
    return outcomes?.[0];
  }

  /** Resolves with the outcome of each log, or with one for all. */
  private send(logs: [IntendedLog, ...IntendedLog[]]): Promise<Outcomes | undefined> {
    const { ledger, token, areKeyed } = this.options;
    const [log] = logs;
    const isBatch = ledger.batch > 1;
    const body = JSON.stringify(isBatch ? { timeLogs: logs } : log);
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(areKeyed && { 'idempotency-key': log.description }),
    };
    return new Promise((resolve) => {
      const path = `/api/v1/time-logs${isBatch ? '/batch' : ''}`;
      const options = { host: '127.0.0.1', port: this.port, method: 'POST', path };
      const send = this.options.ca === undefined ? request : requestOverTls;
      const outgoing = send({ ...options, agent: this.agent, headers }, (answer) => {
        text(answer).then(
          (body) => resolve(outcomesOf(logs, answer, body)),
          () => resolve([{ kind: 'cut' }]),
        );
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) =>
        resolve(error.code === 'ECONNREFUSED' ? undefined : [{ kind: 'cut' }]),
      );
      outgoing.on('finish', () => ledger.inFlight.add(log.description)).end(body);
    });
  }
}

/** Returns the outcomes of an answer: `unexpected` unless it is complete, or a refusal that a fault may cause. */
function outcomesOf(
  logs: readonly IntendedLog[],
  { statusCode, headers }: IncomingMessage,
  text: string,
): Outcomes {
  const body = parsed(text) as { data?: AnsweredLog | AnsweredLog[]; message?: unknown } | undefined;
  const answered = [body?.data ?? []].flat();
  const intended = answered.map(({ id, createdAt, ...log }) => (id && createdAt ? log : undefined));
  const isComplete = isDeepStrictEqual(body, { success: true, data: body?.data });
  if (statusCode === 201 && isComplete && isDeepStrictEqual(intended, logs))
    return answered.map((log) => ({ kind: 'acknowledged', log })) as unknown as Outcomes;
  const refusal = { success: false, error: 'SERVICE_UNAVAILABLE', message: String(body?.message) };
  const isInTime = /^[1-9]\d*$/.test(headers['retry-after'] ?? '');
  if (statusCode === 503 && isInTime && isDeepStrictEqual(body, refusal)) return [{ kind: 'refused' }];
  return [{ kind: 'unexpected', what: `${statusCode} ${JSON.stringify(headers)} ${text}` }];
}
