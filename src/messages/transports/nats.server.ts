import { setTimeout as delay } from 'node:timers/promises';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { ServerNats } from '@nestjs/microservices';
import { natsOptionsOf, brokerFailureOf } from '../broker-connection.js';
import {
  type BrokerServer,
  connectionStatesOf,
  type MessageServerOptions,
  ANSWER_TOO_LARGE,
  inboxRule,
  messageRefusal,
} from './broker-server.js';

/** A message, with the number of bytes of subjects, headers and data. `headers` are decoded on access. */
type NatsMessage = Msg & { size(): number };

/** The maximum size of headers that are decoded: the time grows with the square of their lines. */
const MAX_HEADER_BYTES = 2_048;
/** The delay before another attempt to connect. */
const RETRY_MS = 1_000;
/** The timeout of the connection that finds the reason of an outage. */
const PROBE_TIMEOUT_MS = 2_000;

/** Receives messages from a NATS server. Replies to inboxes only, and limits the size of messages. */
export class NatsServer extends ServerNats implements BrokerServer {
  readonly states: BrokerServer['states'] = connectionStatesOf(this);
  private readonly mayReplyTo: ReturnType<typeof inboxRule>;
  private readonly refusal: Buffer;
  private readonly active: Subscription[] = [];
  private isStopping = false;

  constructor(
    private readonly url: URL,
    private readonly messageOptions: MessageServerOptions,
  ) {
    const { queue, bodyLimit, logger } = messageOptions;
    super({
      ...natsOptionsOf(url),
      name: queue,
      queue,
      waitOnFirstConnect: true,
      maxReconnectAttempts: -1,
      // A client that has never been connected cannot be closed: this ends its attempts.
      reconnectDelayHandler: () => {
        if (this.isStopping && this.active.length === 0)
          throw new Error('the connection is no longer needed');
        return RETRY_MS;
      },
      // A refusal may be temporary: the broker's users can change.
      ignoreAuthErrorAbort: true,
    });
    this.refusal = messageRefusal(bodyLimit);
    this.mayReplyTo = inboxRule(['_INBOX.'], logger);
  }

  /** Connects once with another client: the one that retries does not report its errors. */
  async findOutageReason(): Promise<string> {
    const probe = new ServerNats({
      ...natsOptionsOf(this.url),
      reconnect: false,
      timeout: PROBE_TIMEOUT_MS,
    });
    try {
      const client = (await probe.createNatsClient()) as NatsConnection;
      await client.close();
      return 'the connection was lost';
    } catch (error) {
      return brokerFailureOf(error);
    }
  }

  /** Listens, and again if the client gives up, as it does if the connection lacks TLS. */
  override async listen(callback: (error?: unknown) => void): Promise<void> {
    await super.listen(callback);
    void this.hasGivenUp().then((hasGivenUp) => {
      if (hasGivenUp && !this.isStopping) void this.listen(callback);
    });
  }

  override bindEvents(client: Pick<NatsConnection, 'subscribe'>): void {
    this.active.length = 0;
    const subscribe: NatsConnection['subscribe'] = (...args) => {
      const subscription = client.subscribe(...args);
      this.active.push(subscription);
      return subscription;
    };
    super.bindEvents({ subscribe });
  }

  /** Resolves when the last message in transit has arrived. */
  async stopReceiving(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.active.map((subscription) => subscription.drain()));
  }

  /** Returns Nest's handler, with a check of each message before its headers are decoded. */
  override getMessageHandler(subject: string): (error: unknown, message: NatsMessage) => unknown {
    const handle = super.getMessageHandler(subject) as (error: unknown, message: object) => unknown;
    return (error, message) => {
      if (error) return handle(error, message);
      if (!this.mayReplyTo(message.reply)) return undefined;
      return message.size() > this.messageOptions.bodyLimit
        ? message.respond(this.refusal)
        : handle(null, bounded(message));
    };
  }

  /** Waits for the end of the client. Resolves with true, after a pause, if it has failed. */
  private async hasGivenUp(): Promise<boolean> {
    try {
      if (!(await this.unwrap<NatsConnection>().closed())) return false;
    } catch {
      // It has never been connected.
    }
    await delay(RETRY_MS, undefined, { ref: false });
    return true;
  }
}

/** Returns the parts of a message that Nest's handler uses, without headers that are too long. */
function bounded(message: NatsMessage): Partial<Msg> {
  const { subject, reply, data } = message;
  const headerBytes = message.size() - data.length - subject.length - (reply?.length ?? 0);
  const headers = headerBytes > MAX_HEADER_BYTES ? undefined : message.headers;
  return {
    subject,
    data,
    ...(reply !== undefined && { reply }),
    ...(headers && { headers }),
    json: () => message.json(),
    respond: (answer, options) => {
      try {
        return message.respond(answer, options);
      } catch {
        // The answer exceeds max_payload of the server: 1 MiB by default.
        return message.respond(ANSWER_TOO_LARGE);
      }
    },
  };
}
