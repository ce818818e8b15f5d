import { EventSink } from '../event-sink.js';

/** A sink with one connection, which each call of `connect` replaces. */
export abstract class BrokerSink<Session> extends EventSink {
  protected session: Session | undefined;
  /** Counts calls of `connect` and `close`: only the last one takes effect. */
  private lastCall = 0;

  override async connect(): Promise<void> {
    const call = ++this.lastCall;
    await this.endSession();
    const session = await this.open();
    if (call !== this.lastCall) {
      await this.end(session);
      throw new Error('the connection is no longer needed');
    }
    this.session = session;
  }

  override async close(): Promise<void> {
    this.lastCall++;
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
