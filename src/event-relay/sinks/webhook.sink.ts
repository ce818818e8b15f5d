import { createHmac } from 'node:crypto';
import { brokerFailureOf, brokerName } from '../../messages/index.js';
import type { CloudEvent } from '../../feed/index.js';
import { EventRefusal, EventSink, type RetryDelays } from '../event-sink.js';
import { CONTENT_TYPE, EVENTS_NAME } from './broker.sink.js';

/** The times of a webhook in milliseconds. Only tests change WEBHOOK_TIMES. */
interface WebhookTimes extends RetryDelays {
  /** The timeout of a response. */
  readonly response: number;
}
const WEBHOOK_TIMES: WebhookTimes = { first: 1_000, longest: 300_000, response: 15_000 };
/** The size of a response from which it is not read. Its status counts all the same. */
const MAX_RESPONSE_BYTES = 65_536;
const GONE = 410;

/** Posts each event to a URL (Standard Webhooks 1.0). A status of 2xx acknowledges it. */
export class WebhookSink extends EventSink {
  readonly name: string;
  override readonly retryDelays: WebhookTimes;
  override isStopped = false;

  /** `report` is called once if the receiver wants no more events. */
  constructor(
    private readonly url: URL,
    private readonly keys: readonly Buffer[],
    private readonly report: (line: string) => void,
    times = WEBHOOK_TIMES,
  ) {
    super();
    this.name = brokerName(url);
    this.retryDelays = times;
  }

  override connect(): Promise<void> {
    return Promise.resolve();
  }

  override async publish(event: CloudEvent): Promise<void> {
    const eventName = `the event ${event.id} of the project ${event.subject}`;
    const response = await this.post(event.id, JSON.stringify(event)).catch((error: unknown) => {
      const { cause = error } = error as Error;
      const reason = brokerFailureOf(cause, 'NODE_EXTRA_CA_CERTS');
      throw new EventRefusal(`the receiver did not answer ${eventName} (${reason})`);
    });
    // The connection is reused if the body has ended.
    await skip(response.body ?? []).catch(() => undefined);
    if (response.ok) return;
    if (response.status === GONE) this.stop();
    throw new EventRefusal(
      `the receiver answered ${response.status} to ${eventName}`,
      delayOf(response.headers.get('retry-after') ?? undefined),
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

  private post(id: string, body: string): Promise<Response> {
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const headers = {
      'content-type': CONTENT_TYPE,
      'user-agent': EVENTS_NAME,
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signaturesOf(this.keys, `${id}.${timestamp}.${body}`),
    };
    const signal = AbortSignal.timeout(this.retryDelays.response);
    return fetch(this.url, { method: 'POST', headers, body, redirect: 'manual', signal });
  }
}

/** Returns the signature of each key. */
function signaturesOf(keys: readonly Buffer[], content: string): string {
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
