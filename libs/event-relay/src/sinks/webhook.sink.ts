import { createHmac } from 'node:crypto';
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
/** The maximum number of requests in flight. */
const MAX_IN_FLIGHT = 32;
/** The size of a response from which it is not read. Its status counts all the same. */
const MAX_RESPONSE_BYTES = 65_536;
const GONE = 410;
/** The codes of errors after a connection was opened: of its socket, or of the parser of responses. */
const ERRORS_OF_OPEN_CONNECTIONS = /^(UND_ERR_(SOCKET|HEADERS_OVERFLOW)|ECONNRESET|EPIPE|HPE_.*)$/;

/** Posts each event to a URL (Standard Webhooks 1.0). A status of 2xx acknowledges it. */
export class WebhookSink extends EventSink {
  readonly name: string;
  override readonly maxInFlight = MAX_IN_FLIGHT;
  override readonly retryDelays: WebhookTimes;
  override isStopped = false;

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
  }

  override connect(): Promise<void> {
    return Promise.resolve();
  }

  override async publish(event: CloudEvent): Promise<void> {
    const { ok, status, headers } = await this.post(event.id, JSON.stringify(event));
    if (ok) return;
    if (status === GONE) this.stop();
    throw new EventRefusal(
      `the receiver answered ${status} to the event ${event.id} of the project ${event.subject}`,
      delayOf(headers.get('retry-after') ?? undefined),
    );
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }

  private stop(): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.report(
      `${this.name} wants no more events (it answered ${GONE}): none is published until this instance is restarted; set EVENTS_URL to another webhook, or remove it`,
    );
  }

  private async post(id: string, body: string): Promise<Response> {
    const signal = AbortSignal.timeout(this.times.response);
    const request = {
      method: 'POST',
      headers: this.headersOf(id, body),
      body,
      redirect: 'manual',
      signal,
    } as const;
    const response = await fetch(this.url, request).catch((error: unknown) => {
      throw this.failureOf(error as Error, id);
    });
    // The connection is reused if the body has ended.
    await skip(response.body ?? []).catch(() => undefined);
    return response;
  }

  /** Returns the error of one event, or that of a receiver to which no request can be sent. */
  private failureOf(error: Error, id: string): Error {
    const unanswered = (reason: string) =>
      new EventRefusal(`the receiver did not answer the event ${id} (${reason})`);
    if (error.name === 'TimeoutError') return unanswered(`no response within ${this.times.response} ms`);
    const cause = (error.cause ?? error) as NodeJS.ErrnoException;
    if (ERRORS_OF_OPEN_CONNECTIONS.test(String(cause.code))) return unanswered(cause.message);
    // fetch rejects at the status 407, without a code or a reason.
    if (cause.code === undefined && cause.message === '')
      return unanswered('it asks for the authentication of a proxy');
    // fetch blocks the ports of other protocols (Fetch Standard, section 2.9).
    const isBlocked = cause.message === 'bad port';
    const reason = isBlocked
      ? 'its port is blocked by fetch: use another'
      : brokerFailureOf(cause, 'NODE_EXTRA_CA_CERTS');
    return new Error(`the receiver is out of reach (${reason})`, { cause });
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

/** Reads a body up to its end or a limit. */
async function skip(body: AsyncIterable<Uint8Array> | []): Promise<void> {
  let bytes = 0;
  for await (const chunk of body) if ((bytes += chunk.length) > MAX_RESPONSE_BYTES) return;
}

/** Returns the milliseconds of a Retry-After header: seconds or a date (RFC 9110, section 10.2.3). */
export function delayOf(retryAfter = '', now = Date.now()): number | undefined {
  const delay = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - now;
  return Number.isNaN(delay) ? undefined : delay;
}
