import { EventSink } from '../event-sink.js';

/** The name of the stream of NATS, of the exchange of RabbitMQ, and of the connections. */
export const EVENTS_NAME = 'time-logs';
/** The media type of a CloudEvent in JSON (CloudEvents, JSON event format 1.0). */
export const CONTENT_TYPE = 'application/cloudevents+json';

/** A sink with one connection, which each call of `connect` replaces. */
export abstract class BrokerSink<Session> extends EventSink {
  override readonly isPipelined = true;
  protected session: Session | undefined;
  private isClosed = false;

  override async connect(): Promise<void> {
    await this.endSession();
    const session = await this.open();
    if (this.isClosed) {
      await this.end(session);
      throw new Error('the connection is no longer needed');
    }
    this.session = session;
  }

  override async close(): Promise<void> {
    this.isClosed = true;
    await this.endSession();
  }

  protected abstract open(): Promise<Session>;
  protected abstract end(session: Session): Promise<void>;

  private async endSession(): Promise<void> {
    const { session } = this;
    this.session = undefined;
    if (session) await this.end(session);
  }
}
