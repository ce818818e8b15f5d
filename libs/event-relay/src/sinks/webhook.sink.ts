import { createHmac } from 'node:crypto';
import { Agent, type IncomingMessage, request as requestHttp, type RequestOptions } from 'node:http';
import { Agent as TlsAgent, request as requestHttps } from 'node:https';
import { brokerFailureOf, brokerName } from '../../../messages/src/index.js';
import type { CloudEvent } from '../../../../src/feed/index.js';
import { EventRefusal, EventSink } from '../event-sink.js';
import type { RelayIntervals } from '../relay-intervals.js';
import { CONTENT_TYPE, EVENTS_NAME } from './topology.js';

/** The times of a webhook in milliseconds. Only tests change WEBHOOK_TIMES. */
interface WebhookTimes extends Pick<RelayIntervals, 'retry' | 'longestRetry'> {
  /** The timeout of a response. */
  readonly response: number;
}
const WEBHOOK_TIMES: WebhookTimes = { retry: 1_000, longestRetry: 300_000, response: 15_000 };
/** The maximum number of connections, and of requests. */
const MAX_CONNECTIONS = 32;
/** The idle time after which a connection is closed. */
const IDLE_MS = 30_000;
/** The size of a response from which it is not read. Its status counts all the same. */
const MAX_RESPONSE_BYTES = 65_536;
const GONE = 410;

/** Posts each event to a URL (Standard Webhooks 1.0). A status of 2xx acknowledges it. */
export class WebhookSink extends EventSink {
  readonly name: string;
  override readonly maxInFlight = MAX_CONNECTIONS;
  override readonly retryDelays: WebhookTimes;
  override isStopped = false;
  private readonly agent: Agent;
  private isClosed = false;

  /** `report` is called once if the receiver wants no more events. */
  constructor(
    private readonly url: URL,
    private readonly keys: readonly Buffer[],
    private readonly report: (line: string) => void,
    private readonly times = WEBHOOK_TIMES,
  ) {
    super();
    this.name = brokerName(url);
    this.retryDelays = times;
    const options = { keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: IDLE_MS };
    this.agent = url.protocol === 'https:' ? new TlsAgent(options) : new Agent(options);
  }

  override connect(): Promise<void> {
    return Promise.resolve();
  }

  override async publish(event: CloudEvent): Promise<void> {
    const { statusCode = 0, headers } = await this.post(event.id, JSON.stringify(event));
    if (statusCode >= 200 && statusCode < 300) return;
    if (statusCode === GONE) this.stop();
    throw new EventRefusal(
      `the receiver answered ${statusCode} to the event ${event.id} of the project ${event.subject}`,
      delayOf(headers['retry-after']),
    );
  }

  override close(): Promise<void> {
    this.isClosed = true;
    this.agent.destroy();
    return Promise.resolve();
  }

  private stop(): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.report(
      `${this.name} wants no more events (it answered ${GONE}): none is published until this instance is restarted; set EVENTS_URL to another webhook, or remove it`,
    );
  }

  /** Resolves with the head of the response when its body has ended or is not read any more. */
  private post(id: string, body: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      let [isSent, isAnswered] = [false, false];
      const request = this.request({ method: 'POST', agent: this.agent, headers: this.headersOf(id, body) });
      const timer = setTimeout(
        () => request.destroy(new Error(`no response within ${this.times.response} ms`)),
        this.times.response,
      );
      // It is emitted after a failed write, too.
      request.once('finish', () => (isSent = !request.socket?.errored));
      request.once('response', (response) => {
        isAnswered = true;
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          if ((bytes += chunk.length) > MAX_RESPONSE_BYTES) response.destroy();
        });
        response.on('error', () => undefined);
        response.once('close', () => resolve(response));
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (isAnswered) return;
        // The receiver has closed an idle connection.
        if (request.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(error.code!) && !this.isClosed)
          resolve(this.post(id, body));
        else reject(failureOf(error, id, isSent));
      });
      request.once('close', () => {
        clearTimeout(timer);
        // Node reports neither a response nor an error for an upgrade (101). Otherwise it is settled by now.
        if (!isAnswered) reject(failureOf(new Error('it sent no usable response'), id, isSent));
      });
      request.end(body);
    });
  }

  private request(options: RequestOptions) {
    return this.url.protocol === 'https:' ? requestHttps(this.url, options) : requestHttp(this.url, options);
  }

  private headersOf(id: string, body: string) {
    const timestamp = String(Math.floor(Date.now() / 1_000));
    return {
      'content-type': CONTENT_TYPE,
      'user-agent': EVENTS_NAME,
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signaturesOf(this.keys, `${id}.${timestamp}.${body}`),
    };
  }
}

/** Returns the signature of each key. */
export function signaturesOf(keys: readonly Buffer[], content: string): string {
  return keys.map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`).join(' ');
}

/** Returns the error of one event, or that of a receiver to which no request can be sent. */
function failureOf(error: Error, id: string, isSent: boolean): Error {
  if (isSent) return new EventRefusal(`the receiver did not answer the event ${id} (${error.message})`);
  const reason = brokerFailureOf(error, 'NODE_EXTRA_CA_CERTS');
  return new Error(`the receiver is out of reach (${reason})`, { cause: error });
}

/** Returns the milliseconds of a Retry-After header: seconds or a date (RFC 9110, section 10.2.3). */
export function delayOf(retryAfter = '', now = Date.now()): number | undefined {
  const delay = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - now;
  return Number.isNaN(delay) ? undefined : delay;
}
