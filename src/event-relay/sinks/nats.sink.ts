import {
  DiscardPolicy,
  jetstream,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { brokerFailureOf, brokerName, natsOptionsOf } from '../../messages/index.js';
import type { CloudEvent } from '../../feed/index.js';
import { EventRefusal } from '../event-sink.js';
import { BrokerSink, CONTENT_TYPE, EVENTS_NAME } from './broker.sink.js';

/** The timeout of a connection, and of an acknowledgement. */
const TIMEOUT_MS = 5_000;
/** The subjects of the stream. They are the types of the events. */
const SUBJECTS = 'time-log.*';

interface Session {
  readonly connection: NatsConnection;
  readonly stream: JetStreamClient;
}

/** Publishes to a stream of NATS JetStream, which drops duplicates within its duplicate window. */
export class NatsSink extends BrokerSink<Session> {
  readonly name: string;
  private hasWarned = false;

  /** `warn` is called once if the stream may lose or refuse events. */
  constructor(
    private readonly url: URL,
    private readonly warn: (line: string) => void,
  ) {
    super();
    this.name = brokerName(url);
  }

  override async publish(event: CloudEvent): Promise<void> {
    const messageHeaders = headers();
    messageHeaders.set('content-type', CONTENT_TYPE);
    try {
      await this.session!.stream.publish(event.type, JSON.stringify(event), {
        msgID: event.id,
        headers: messageHeaders,
        expect: { streamName: EVENTS_NAME },
        timeout: TIMEOUT_MS,
      });
    } catch (error) {
      throw failureOf(error, event);
    }
  }

  protected override async open(): Promise<Session> {
    let connection: NatsConnection | undefined;
    try {
      connection = await connect({
        ...natsOptionsOf(this.url),
        name: EVENTS_NAME,
        timeout: TIMEOUT_MS,
        // The relay tries again.
        reconnect: false,
        // The two errors that it creates per event for their stacks are half of the cost of an event.
        noAsyncTraces: true,
      });
      await this.findOrCreateStream(connection);
      return { connection, stream: jetstream(connection, { timeout: TIMEOUT_MS }) };
    } catch (error) {
      await connection?.close();
      throw failureOf(error);
    }
  }

  protected override end({ connection }: Session): Promise<void> {
    return connection.close();
  }

  private async findOrCreateStream(connection: NatsConnection): Promise<void> {
    const { streams } = await jetstreamManager(connection, { timeout: TIMEOUT_MS, checkAPI: false });
    try {
      const { config } = await streams.info(EVENTS_NAME);
      if (this.hasWarned || !mayLoseEvents(config)) return;
      this.hasWarned = true;
      this.warn(
        `the stream ${EVENTS_NAME} may lose events: its storage, retention, max_age, or its limits with discard: old; it is not changed`,
      );
    } catch (error) {
      if (!(error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound))
        throw error;
      await streams.add({
        name: EVENTS_NAME,
        subjects: [SUBJECTS],
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
        discard: DiscardPolicy.New,
      });
    }
  }
}

function mayLoseEvents(config: StreamConfig): boolean {
  const { retention, discard, storage, max_age, max_msgs, max_bytes, max_msgs_per_subject } = config;
  const isLimited = [max_msgs, max_bytes, max_msgs_per_subject].some((limit) => limit > 0);
  return (
    storage !== StorageType.File ||
    retention !== RetentionPolicy.Limits ||
    max_age > 0 ||
    (isLimited && discard !== DiscardPolicy.New)
  );
}

/** Returns the error with what to do. */
function failureOf(error: unknown, event?: CloudEvent): Error {
  const message = brokerFailureOf(error);
  if (/jetstream is not enabled|no responders/i.test(message))
    return new Error(
      `JetStream does not answer, or no stream ${EVENTS_NAME} accepts ${event?.type ?? SUBJECTS}: start nats-server with -js, and check its streams`,
    );
  // Checked before a full stream, whose pattern also matches `maximum`.
  if (event && /message size|payload/i.test(message))
    return new EventRefusal(
      `the event ${event.id} is too large for NATS (${message}): raise max_msg_size of the stream ${EVENTS_NAME}, or max_payload of the server`,
    );
  if (/maximum|resource|storage/i.test(message))
    return new Error(`the stream ${EVENTS_NAME} is full (${message}): give it more room`);
  return new Error(`NATS is out of reach or refuses (${message})`, { cause: error });
}
