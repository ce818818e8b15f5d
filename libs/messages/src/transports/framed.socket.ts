import type { Socket } from 'node:net';
import { TcpSocket } from '@nestjs/microservices';
import { DomainError } from '../../../errors/src/index.js';
import { packetJson } from '../packet-json.js';
import { type BoundedConnection, type BoundedConnections, EvictionPriority } from './bounded-connections.js';
import { FrameReader, frameOf } from './frame-reader.js';
import type { MessageScheduler } from './message-scheduler.js';
import { errorPacket } from './reply-packet.js';

/** The state that the connections of a server share. */
export interface TcpServerState {
  /** Connections that have not sent a valid token yet. */
  readonly anonymous: BoundedConnections;
  /** Connections that have sent a valid token. */
  readonly authenticated: BoundedConnections;
  readonly scheduler: MessageScheduler;
  readonly timeouts: TcpTimeouts;
}

/** Timeouts of a connection, in milliseconds. */
export interface TcpTimeouts {
  /** For the rest of a message that has begun; for a whole message until there is a valid token. */
  readonly message: number;
  /** Between two messages of a connection with a valid token. */
  readonly idle: number;
}

/** The maximum number of messages of a connection in flight. Others wait unread. */
const MAX_IN_FLIGHT = { anonymous: 1, authenticated: 128 };
const MESSAGE_TIMEOUT = new DomainError('REQUEST_TIMEOUT', 'the message was not received in time');

/**
 * A connection. It replaces Nest's JsonSocket, which collects texts without a common limit, handles
 * all messages of one read at once (perhaps thousands), and waits forever for a silent client. The
 * format of messages is the same.
 */
export class FramedSocket extends TcpSocket implements BoundedConnection {
  private readonly reader = new FrameReader();
  private isAnonymous = true;
  private received = 0;
  private inFlight = 0;
  private isScheduled = false;
  /** The duration of the last run of `handleNext`. */
  private lastRunMs = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    socket: Socket,
    private readonly shared: TcpServerState,
  ) {
    super(socket);
    shared.anonymous.add(this);
    socket.on('drain', () => this.proceed());
    socket.on('end', () => this.proceed());
    socket.on('close', () => {
      this.stopTimer();
      this.group.remove(this);
    });
    this.proceed();
  }

  get heldBytes(): number {
    return this.reader.heldBytes;
  }

  get evictionPriority(): EvictionPriority {
    if (this.isAnonymous && this.received > this.inFlight) return EvictionPriority.rejected;
    return this.isScheduled || this.inFlight > 0 ? EvictionPriority.busy : EvictionPriority.idle;
  }

  /** Counts a message of this connection that starts. */
  begin(): void {
    this.inFlight++;
  }

  /** Counts a message that was answered. */
  finish(): void {
    this.inFlight--;
    this.proceed();
  }

  /** Marks the connection as authenticated: it has sent a valid token. */
  authenticate(): void {
    if (this.socket.destroyed) return;
    this.group.remove(this);
    this.isAnonymous = false;
    // The connection moves behind all whose last valid token is older.
    this.group.add(this);
    this.stopTimer();
    this.proceed();
  }

  /** Closes the connection, after the error if the client has read all replies. */
  closeNow(error?: DomainError): void {
    if (error && this.socket.writableLength === 0) this.handleSend(errorPacket(error));
    this.socket.destroy();
  }

  protected override handleSend(message: object, callback?: (error?: unknown) => void): void {
    this.socket.write(frameOf(packetJson(message)), callback);
  }

  protected override handleData(chunk: Buffer): void {
    // The idle timeout ends when a message begins.
    if (!this.isAnonymous && !this.reader.hasBegun) this.stopTimer();
    this.reader.add(chunk);
    this.group.enforceByteLimit();
    this.proceed();
  }

  private get group(): BoundedConnections {
    return this.isAnonymous ? this.shared.anonymous : this.shared.authenticated;
  }

  /** Schedules the message that was received, or reads more bytes. */
  private proceed(): void {
    if (this.isScheduled || this.socket.destroyed) return;
    const limit = this.isAnonymous ? MAX_IN_FLIGHT.anonymous : MAX_IN_FLIGHT.authenticated;
    if (this.inFlight >= limit || this.socket.writableNeedDrain) {
      this.socket.pause();
      this.stopTimer();
    } else if (this.reader.mayBeReady) {
      this.socket.pause();
      this.isScheduled = true;
      this.shared.scheduler.schedule(() => this.handleNext(), this.lastRunMs, this.isAnonymous);
    } else if (this.socket.readableEnded) {
      this.stopTimer();
      // Nest sends the last reply in the next tick.
      if (this.inFlight === 0) setImmediate(() => this.socket.end());
    } else {
      this.socket.resume();
      if (this.inFlight === 0) this.startTimer();
    }
  }

  private handleNext(): void {
    this.isScheduled = false;
    if (this.socket.destroyed) return;
    const startedAt = performance.now();
    try {
      if (this.reader.isReady()) this.handleMessage();
    } catch (error) {
      this.closeNow(error as DomainError);
    }
    this.lastRunMs = performance.now() - startedAt;
    this.proceed();
  }

  private handleMessage(): void {
    this.stopTimer();
    this.received++;
    this.socket.emit('message', this.reader.take());
  }

  private startTimer(): void {
    const { message, idle } = this.shared.timeouts;
    const timeout = this.isAnonymous || this.reader.hasBegun ? message : idle;
    this.timer ??= setTimeout(
      () => this.closeNow(this.reader.hasBegun ? MESSAGE_TIMEOUT : undefined),
      timeout,
    );
  }

  private stopTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
