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
import { brokerFailureOf, brokerName, natsOptionsOf } from '../../../messages/src/index.js';
import type { CloudEvent } from '../../../../src/feed/index.js';
import { MAX_DESCRIPTION_LENGTH } from '../../../../src/time-log/index.js';
import { BrokerSink } from './broker.sink.js';
import { CONTENT_TYPE, EVENTS_NAME, SUBJECTS } from './topology.js';

/** The timeout of a connection, and of an acknowledgement. */
const TIMEOUT_MS = 5_000;
/** The size of the largest event: JSON may escape each character of a description with 6 bytes. */
const MAX_EVENT_BYTES = 6 * MAX_DESCRIPTION_LENGTH + 2_000;

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
      throw new Error(adviceFor(error, event.type), { cause: error });
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
      throw new Error(adviceFor(error), { cause: error });
    }
  }

  protected override end({ connection }: Session): Promise<void> {
    return connection.close();
  }

  private async findOrCreateStream(connection: NatsConnection): Promise<void> {
    const { streams } = await jetstreamManager(connection, { timeout: TIMEOUT_MS, checkAPI: false });
    try {
      const { config } = await streams.info(EVENTS_NAME);
      const fault = faultOf(config);
      if (fault !== undefined && !this.hasWarned) {
        this.hasWarned = true;
        this.warn(`the stream ${EVENTS_NAME} may ${fault}; it is not changed`);
      }
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

/** Returns how a stream may lose or refuse events, and why; undefined if it does not. */
function faultOf(config: StreamConfig): string | undefined {
  const { retention, discard, storage, max_age, max_msgs, max_bytes, max_msgs_per_subject, max_msg_size } =
    config;
  if (retention !== RetentionPolicy.Limits)
    return `lose events: it removes what was read (retention: ${retention})`;
  if (max_age > 0) return 'lose events: it removes old ones (max_age)';
  const isLimited = [max_msgs, max_bytes, max_msgs_per_subject].some((limit) => limit > 0);
  if (isLimited && discard !== DiscardPolicy.New)
    return 'lose events: it removes old ones when it is full (discard: old)';
  if (storage !== StorageType.File) return 'lose events: it keeps them in memory (storage: memory)';
  if (max_msg_size > 0 && max_msg_size < MAX_EVENT_BYTES)
    return `refuse events: max_msg_size is below ${MAX_EVENT_BYTES}`;
  return undefined;
}

function adviceFor(error: unknown, subject: CloudEvent['type'] = 'time-log.created'): string {
  const message = brokerFailureOf(error);
  if (/jetstream is not enabled|no responders/i.test(message))
    return `JetStream does not answer, or no stream ${EVENTS_NAME} accepts ${subject}: start nats-server with -js, and check its streams`;
  // Checked before a full stream, whose pattern also matches `maximum`.
  if (/message size|payload/i.test(message))
    return `an event is too large for NATS (${message}): raise max_msg_size of the stream ${EVENTS_NAME}, or max_payload of the server`;
  if (/maximum|resource|storage/i.test(message))
    return `the stream ${EVENTS_NAME} is full (${message}): give it more room`;
  return `NATS is out of reach or refuses (${message})`;
}
