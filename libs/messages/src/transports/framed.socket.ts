import type { Socket } from 'node:net';
import { TcpSocket } from '@nestjs/microservices';
import { DomainError } from '../../../errors/src/index.js';
import { packetJson } from '../written-answer.js';
import { packetOf } from './answer-packet.js';
import { type BoundedConnection, type BoundedConnections, Claim } from './bounded-connections.js';
import { FrameReader, frameOf } from './frame-reader.js';
import type { Turns } from './turns.js';

/** What the connections of a server have in common. */
export interface TcpEdge {
  /** Connections without a valid token yet. */
  readonly strangers: BoundedConnections;
  /** The others. */
  readonly known: BoundedConnections;
  readonly turns: Turns;
  readonly times: TcpTimes;
}

/** Milliseconds. */
export interface TcpTimes {
  /** In which a message that has begun must be there. A stranger has this time to begin it, too. */
  readonly message: number;
  /** For which a connection with a valid token may rest between two messages. */
  readonly rest: number;
}

/** The most messages of a connection that are under way at a time. Others wait unread. */
const MOST = { strangers: 1, known: 128 };
const TOO_SLOW = new DomainError('REQUEST_TIMEOUT', 'the message was not received in time');

/**
 * One connection, in the place of Nest's JsonSocket. That collects texts without a common bound, three bytes of which
 * may take two characters of memory; handles all that one read brings at once, which may be thousands of messages; and
 * waits for ever for whoever says nothing. The form of a message is the same.
 */
export class FramedSocket extends TcpSocket implements BoundedConnection {
  private readonly reader = new FrameReader();
  private isStranger = true;
  private taken = 0;
  private underWay = 0;
  private hasTurn = false;
  /** Milliseconds of its last turn. */
  private cost = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    socket: Socket,
    private readonly edge: TcpEdge,
  ) {
    super(socket);
    edge.strangers.enter(this);
    socket.on('drain', () => this.goOn());
    socket.on('close', () => {
      this.stopWaiting();
      this.group.leave(this);
    });
    this.goOn();
  }

  get held(): number {
    return this.reader.held;
  }

  get claim(): Claim {
    if (this.isStranger && this.taken > this.underWay) return Claim.wasRefused;
    return this.hasTurn || this.underWay > 0 ? Claim.waitsForUs : Claim.isSilent;
  }

  /** A message of this connection is under way. */
  begin(): void {
    this.underWay++;
  }

  /** A message that was under way has its answer. */
  finish(): void {
    this.underWay--;
    this.goOn();
  }

  /** A message of this connection had a valid token. */
  trust(): void {
    if (this.socket.destroyed) return;
    this.group.leave(this);
    this.isStranger = false;
    // Behind all whose last valid token is older.
    this.group.enter(this);
    this.stopWaiting();
    this.goOn();
  }

  /** Ends the connection. The error reaches a client that reads. */
  cut(error?: DomainError): void {
    if (error && this.socket.writableLength === 0) this.handleSend(packetOf(error));
    this.socket.destroy();
  }

  protected override handleSend(message: object, callback?: (error?: unknown) => void): void {
    this.socket.write(frameOf(packetJson(message)), callback);
  }

  protected override handleData(chunk: Buffer): void {
    // It may rest before a message, not within one.
    if (!this.isStranger && !this.reader.hasBegun) this.stopWaiting();
    this.reader.add(chunk);
    this.group.measure();
    this.goOn();
  }

  private get group(): BoundedConnections {
    return this.isStranger ? this.edge.strangers : this.edge.known;
  }

  /** Lets come what may come next: a turn for what is there, or more bytes. */
  private goOn(): void {
    if (this.hasTurn || this.socket.destroyed) return;
    const most = this.isStranger ? MOST.strangers : MOST.known;
    if (this.underWay >= most || this.socket.writableNeedDrain) {
      this.socket.pause();
      this.stopWaiting();
    } else if (this.reader.mayBeReady) {
      this.socket.pause();
      this.hasTurn = true;
      this.edge.turns.take(() => this.takeTurn(), this.cost, this.isStranger);
    } else {
      this.socket.resume();
      if (this.underWay === 0) this.waitForClient();
    }
  }

  private takeTurn(): void {
    this.hasTurn = false;
    if (this.socket.destroyed) return;
    const begun = performance.now();
    try {
      if (this.reader.isReady()) this.handleMessage();
    } catch (error) {
      this.cut(error as DomainError);
    }
    this.cost = performance.now() - begun;
    this.goOn();
  }

  private handleMessage(): void {
    this.stopWaiting();
    this.taken++;
    this.socket.emit('message', this.reader.take());
  }

  private waitForClient(): void {
    const { message, rest } = this.edge.times;
    const time = this.isStranger || this.reader.hasBegun ? message : rest;
    this.timer ??= setTimeout(() => this.cut(this.reader.hasBegun ? TOO_SLOW : undefined), time);
  }

  private stopWaiting(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
