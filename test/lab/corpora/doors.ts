import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { startNats, startRabbit } from '../brokers/brokers.js';
import { unusedPort } from '../../support/unused-port.js';
import { isInstalled } from '../installed.js';
import { startSender } from '../brokers/rabbitmq-sender.js';
import { RawTcp } from '../../messages/raw-tcp.js';
import type { Exchange } from './exchange.js';
import type { Message } from './inputs.js';
import { statusOf } from './judge.js';

/** Milliseconds: without an answer for so long a message hangs. */
const ANSWER_LIMIT = 5_000;
const HEADERS = new Headers({ 'content-type': 'application/json; charset=utf-8' });

export type DoorName = 'TCP' | 'NATS' | 'RabbitMQ';

/** A transport, which the service reaches at a URL. */
export interface Door {
  readonly url: string;
  /** Starts to send: call it when the service is there. */
  open(): Promise<Sending>;
  close(): Promise<void>;
}

export interface Sending {
  send(message: Message): Promise<Exchange>;
  close(): Promise<void>;
}

/** Sends the bytes of a message; the text of its answer. */
type Ask = (message: Message) => Promise<string | undefined>;

/** The transports by their names; undefined where the broker is not installed. */
export const DOORS: Readonly<Record<DoorName, () => Promise<Door | undefined>>> = {
  TCP: async () => {
    const port = await unusedPort();
    const ask: Ask = async ({ bytes }) => {
      const raw = await RawTcp.open(port);
      const answer = await raw.ask(bytes);
      raw.close();
      return answer && JSON.stringify(answer);
    };
    return {
      url: `tcp://127.0.0.1:${port}`,
      open: async () => sendingBy(ask, () => Promise.resolve()),
      close: () => Promise.resolve(),
    };
  },
  NATS: async () => {
    if (!isInstalled('nats-server')) return undefined;
    const broker = await startNats();
    return {
      url: broker.url,
      open: async () => {
        const client = await connect({ servers: broker.url.slice(7) });
        const ask: Ask = async ({ pattern, bytes }) =>
          (await client.request(pattern, bytes, { timeout: 2 * ANSWER_LIMIT })).string();
        return sendingBy(ask, () => client.close());
      },
      close: () => broker.stop(),
    };
  },
  RabbitMQ: async () => {
    if (!isInstalled('rabbitmq-server')) return undefined;
    const broker = await startRabbit();
    return {
      url: broker.url,
      open: async () => {
        const sender = await startSender(broker.url);
        return sendingBy(
          ({ bytes }) => sender.ask(bytes),
          () => sender.close(),
        );
      },
      close: () => broker.stop(),
    };
  },
};

function sendingBy(ask: Ask, close: () => Promise<void>): Sending {
  return {
    send: async (message) => {
      const limit = new AbortController();
      const late = delay(ANSWER_LIMIT, 'late' as const, { signal: limit.signal }).catch(() => undefined);
      const answer = await Promise.race([ask(message).catch(() => 'late' as const), late]);
      limit.abort();
      if (answer === 'late') return { answers: [], isHung: true };
      return { answers: answer === undefined ? [] : [asOverHttp(answer, message)], isHung: false };
    },
    close,
  };
}

/** The answer that HTTP would have given: its status, and its words for the body, which is a part of the message. */
function asOverHttp(text: string, { pattern }: Message): Exchange['answers'][number] {
  const { err, response } = JSON.parse(text) as {
    readonly err?: { readonly error: string; readonly message: string };
    readonly response?: unknown;
  };
  const success = pattern === 'time-log.record.v1' ? 201 : 200;
  const answer = (status: number, body: unknown) => ({ status, headers: HEADERS, text, body });
  if (!err) return answer(success, response);
  const message = err.message
    .replace(/^the message must (be valid|not be nested)/, 'the request body must $1')
    .replace('nested deeper than 9', 'nested deeper than 8');
  return answer(statusOf(err.error), { ...err, message });
}
