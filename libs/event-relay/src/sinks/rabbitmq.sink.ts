import { setTimeout as delay } from 'node:timers/promises';
import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { brokerName } from '../../../messages/src/index.js';
import type { CloudEvent } from '../../../../src/feed/index.js';
import { EventSink } from '../event-sink.js';
import { CONTENT_TYPE, NAME, UNWANTED } from './topology.js';

/** Milliseconds to connect, and to get a confirmation. */
const LIMIT = 5_000;
/** Milliseconds for a goodbye. */
const GOODBYE = 1_000;
/** Seconds between two signs of life on a connection. After two that are missed it ends. */
const HEARTBEAT = 5;
/** A message that no queue takes comes back with its id, before its confirmation (RabbitMQ, publisher confirms). */
const unroutable = (key: string) => `no queue is bound to the exchange ${NAME} for ${key}: bind one`;

/** What is told about an event: nothing where a queue keeps it. */
type Verdict = (fault?: string) => void;

/** Publishes to a durable topic exchange of RabbitMQ. An event counts only when a queue has taken it. */
export class RabbitMqSink extends EventSink {
  readonly name: string;
  /** Counts `connect` and `close`: only the last one of them holds. */
  private turn = 0;
  private connection: ChannelModel | undefined;
  /** Destroys the socket of the connection. */
  private cutter = new AbortController();
  private channel: ConfirmChannel | undefined;
  /** Of the events under way, by id. */
  private readonly verdicts = new Map<string, Verdict>();

  constructor(private readonly url: URL) {
    super();
    this.name = brokerName(url);
  }

  override async connect(): Promise<void> {
    const turn = ++this.turn;
    this.cut();
    try {
      await this.open(turn);
    } catch (error) {
      throw new Error(`RabbitMQ is out of reach or refuses (${(error as Error).message})`, { cause: error });
    }
  }

  override async publish(event: CloudEvent): Promise<void> {
    const { id } = event;
    let timer: NodeJS.Timeout | undefined;
    const fault = await new Promise<string | undefined>((tell) => {
      this.verdicts.set(id, tell);
      timer = setTimeout(() => tell(`RabbitMQ gave no confirmation within ${LIMIT} ms`), LIMIT);
      const options = { messageId: id, contentType: CONTENT_TYPE, persistent: true, mandatory: true };
      this.channel!.publish(NAME, event.type, Buffer.from(JSON.stringify(event)), options, (error: unknown) =>
        tell(error ? `RabbitMQ did not keep it (${(error as Error).message})` : undefined),
      );
    }).finally(() => {
      clearTimeout(timer);
      this.verdicts.delete(id);
    });
    if (fault !== undefined) throw new Error(fault);
  }

  override async close(): Promise<void> {
    this.turn++;
    // A goodbye that nobody answers must not hold up the end.
    await Promise.race([
      this.connection?.close().catch(() => undefined),
      delay(GOODBYE, undefined, { ref: false }),
    ]);
    this.cut();
  }

  private async open(turn: number): Promise<void> {
    const url = new URL(this.url);
    if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(HEARTBEAT));
    const cutter = new AbortController();
    // The signal is for the socket, whose options amqplib passes on.
    const options = {
      timeout: LIMIT,
      clientProperties: { connection_name: NAME },
      signal: cutter.signal,
    };
    const connection = await connect(url.href, options);
    // Whoever waits for a confirmation is told as well.
    connection.on('error', () => undefined);
    if (turn !== this.turn) {
      end(connection, cutter);
      throw new Error(UNWANTED);
    }
    this.connection = connection;
    this.cutter = cutter;
    connection.on('blocked', (reason) =>
      this.tellAll(`RabbitMQ takes nothing now (${reason}): see rabbitmqctl status`),
    );
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    channel.on('return', ({ properties, fields }) =>
      this.verdicts.get(String(properties.messageId))?.(unroutable(fields.routingKey)),
    );
    await channel.assertExchange(NAME, 'topic', { durable: true });
    // Whoever has taken the turn has ended this connection.
    if (turn !== this.turn) throw new Error(UNWANTED);
    this.channel = channel;
  }

  private tellAll(fault: string): void {
    for (const tell of this.verdicts.values()) tell(fault);
  }

  /** Ends a connection that may never answer again. */
  private cut(): void {
    const { connection } = this;
    if (connection === undefined) return;
    this.connection = this.channel = undefined;
    this.tellAll('the connection to RabbitMQ is cut');
    end(connection, this.cutter);
  }
}

function end(connection: ChannelModel, cutter: AbortController): void {
  connection.close().catch(() => undefined);
  // Without an error the driver would not notice, and keep its timers for some seconds.
  cutter.abort();
}
