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
import { reasonOf } from '../../../errors/src/index.js';
import { brokerName, natsOptionsOf } from '../../../messages/src/index.js';
import type { CloudEvent } from '../../../../src/feed/index.js';
import { DESCRIPTION_LENGTH } from '../../../../src/time-log/index.js';
import { EventSink } from '../event-sink.js';
import { CONTENT_TYPE, NAME, SUBJECTS, UNWANTED } from './topology.js';

/** Milliseconds to connect, and to get an acknowledgement. */
const LIMIT = 5_000;
/** Bytes of the largest event: a description of characters that JSON escapes, with 6 bytes each, and the rest. */
const LARGEST = 6 * DESCRIPTION_LENGTH + 2_000;

interface Session {
  readonly connection: NatsConnection;
  readonly stream: JetStreamClient;
}

/**
 * Publishes to a stream of NATS JetStream. A repeat within the stream's window of duplicates is dropped by the
 * server.
 */
export class NatsSink extends EventSink {
  readonly name: string;
  private session: Session | undefined;
  /** Counts `connect` and `close`: only the last one of them holds. */
  private turn = 0;
  private hasWarned = false;

  /** `warn` gets one line where the stream may lose or refuse events. */
  constructor(
    private readonly url: URL,
    private readonly warn: (line: string) => void,
  ) {
    super();
    this.name = brokerName(url);
  }

  override async connect(): Promise<void> {
    const turn = ++this.turn;
    await this.leave();
    const session = await this.open().catch((error: unknown) => {
      throw new Error(adviceFor(error), { cause: error });
    });
    if (turn !== this.turn) {
      await session.connection.close();
      throw new Error(UNWANTED);
    }
    this.session = session;
  }

  override async publish(event: CloudEvent): Promise<void> {
    const about = headers();
    about.set('content-type', CONTENT_TYPE);
    try {
      await this.session!.stream.publish(event.type, JSON.stringify(event), {
        msgID: event.id,
        headers: about,
        expect: { streamName: NAME },
        timeout: LIMIT,
      });
    } catch (error) {
      throw new Error(adviceFor(error, event.type), { cause: error });
    }
  }

  override async close(): Promise<void> {
    this.turn++;
    await this.leave();
  }

  private async leave(): Promise<void> {
    const { session } = this;
    this.session = undefined;
    await session?.connection.close();
  }

  private async open(): Promise<Session> {
    const connection = await connect({
      ...natsOptionsOf(this.url),
      name: NAME,
      timeout: LIMIT,
      // The relay tries again.
      reconnect: false,
      // Two errors made in advance for every event, for their stack, are half of what an event costs.
      noAsyncTraces: true,
    });
    try {
      await this.findOrMakeStream(connection);
      return { connection, stream: jetstream(connection, { timeout: LIMIT }) };
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  private async findOrMakeStream(connection: NatsConnection): Promise<void> {
    const { streams } = await jetstreamManager(connection, { timeout: LIMIT, checkAPI: false });
    try {
      const { config } = await streams.info(NAME);
      const fault = faultOf(config);
      if (fault !== undefined && !this.hasWarned) {
        this.hasWarned = true;
        this.warn(`the stream ${NAME} may ${fault}; it is left as it is`);
      }
    } catch (error) {
      if (!(error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound))
        throw error;
      await streams.add({
        name: NAME,
        subjects: [SUBJECTS],
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
        discard: DiscardPolicy.New,
      });
    }
  }
}

/** What a stream may do to events, and why; or undefined. */
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
  if (max_msg_size > 0 && max_msg_size < LARGEST) return `refuse events: max_msg_size is below ${LARGEST}`;
  return undefined;
}

function adviceFor(error: unknown, subject: CloudEvent['type'] = 'time-log.created'): string {
  const message = reasonOf(error);
  if (/jetstream is not enabled|no responders/i.test(message)) {
    return `no JetStream answers, or no stream ${NAME} takes ${subject}: start nats-server with -js, and see its stream`;
  }
  // Before those of a full stream: it says `maximum` too.
  if (/message size|payload/i.test(message)) {
    return `an event is too large for NATS (${message}): raise max_msg_size of the stream ${NAME}, or max_payload of the server`;
  }
  if (/maximum|resource|storage/i.test(message))
    return `the stream ${NAME} is full (${message}): give it more room`;
  return `NATS is out of reach or refuses (${message})`;
}
