import { setTimeout as delay } from 'node:timers/promises';
import {
  type ArgumentsHost,
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Optional,
} from '@nestjs/common';
import { Drainable, type RequestChange, stateOf } from '../../strict-request/src/index.js';
import { messageIdOf, messageOf, patternOf } from './rpc-message.js';

/** The maximum time that a shutdown waits for the replies to messages. */
const DRAIN_TIMEOUT_MS = 5_000;
/** The maximum time that a shutdown waits until the transport has stopped receiving. */
const STOP_TIMEOUT_MS = 1_000;
/** The time for the last replies to leave the process: a closed transport loses unsent data. */
const FLUSH_MS = 100;

/** A transport that receives messages and sends the replies. */
export interface MessageTransport {
  /** Stops receiving messages. Resolves when the last message in transit has arrived. */
  stopReceiving(): Promise<void>;
  /** Whether too many bytes of replies are unsent to start more messages. Brokers only. */
  readonly isFull?: boolean;
  /** Resolves when the broker has all replies, or they are lost. Brokers only. */
  sent?(): Promise<unknown>;
}

/** The reply to a message that failed. */
export interface ErrorReply {
  /** The error code, and its HTTP status. */
  readonly error: string;
  readonly status: number;
  /** The error message for the log, without names that the caller has chosen. */
  readonly reason: string | undefined;
}

/** A message that was answered. */
export interface AnsweredMessage extends Partial<ErrorReply> {
  readonly id: string;
  readonly pattern: string;
  /** The id of the caller, if the message has passed the guard. */
  readonly caller: string | undefined;
  /** The change that the message made. */
  readonly change?: RequestChange | undefined;
  readonly milliseconds: number;
}

/** Called with each message when it is answered, for example to write an access log. */
export type OnMessage = (message: AnsweredMessage) => void;
export const ON_MESSAGE = Symbol('ON_MESSAGE');

/**
 * The messages that are not answered yet. A shutdown waits for them before Nest closes the
 * transports, which would lose the replies.
 */
@Injectable()
export class InFlightMessages extends Drainable implements BeforeApplicationShutdown {
  /** The start time of each message, in milliseconds of `performance.now()`. */
  private readonly startedAt = new WeakMap<object, number>();
  private readonly inFlight = new Set<object>();
  /** The time when a message last left `inFlight`, in milliseconds of `performance.now()`. */
  private lastRemovedAt = -Infinity;
  private isShuttingDown = false;
  private drained: Promise<void> | undefined;
  /** The transport of the service; undefined if the host connects its own. */
  transport: MessageTransport | undefined;

  constructor(@Optional() @Inject(ON_MESSAGE) private readonly onMessage?: OnMessage) {
    super();
  }

  /**
   * Adds a message. Returns false if none may start: during a shutdown, or while too many replies
   * are unsent.
   */
  begin(host: ArgumentsHost): boolean {
    if (this.isShuttingDown || this.transport?.isFull) return false;
    this.startedAt.set(messageOf(host), performance.now());
    this.resume(host);
    return true;
  }

  /** Adds a message again that `begin` has accepted, also during a shutdown. */
  resume(host: ArgumentsHost): void {
    this.inFlight.add(messageOf(host));
  }

  /** Removes a message while the host handles it: the host may answer it without us. */
  suspend(host: ArgumentsHost): void {
    this.remove(messageOf(host));
  }

  /** Removes a message that was answered, and reports it. Returns its id. */
  end(host: ArgumentsHost, error?: ErrorReply): { readonly id: string } {
    const now = performance.now();
    const message = messageOf(host);
    const milliseconds = now - (this.startedAt.get(message) ?? now);
    const id = messageIdOf(host);
    this.onMessage?.({
      id,
      pattern: patternOf(host.switchToRpc().getContext()),
      ...callerAndChangeOf(host.switchToRpc().getData()),
      milliseconds,
      ...error,
    });
    this.remove(message);
    return { id };
  }

  /** Whether the last replies had the time to leave the process. */
  private get hasFlushed(): boolean {
    return this.inFlight.size === 0 && performance.now() >= this.lastRemovedAt + FLUSH_MS;
  }

  private remove(message: object): void {
    if (this.inFlight.delete(message)) this.lastRemovedAt = performance.now();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.drain();
  }

  override drain(): Promise<void> {
    return (this.drained ??= this.endAll());
  }

  private async endAll(): Promise<void> {
    // A broker that is down does not answer.
    await Promise.race([
      this.transport?.stopReceiving().catch(() => undefined),
      delay(STOP_TIMEOUT_MS, undefined, { ref: false }),
    ]);
    this.isShuttingDown = true;
    const end = performance.now() + DRAIN_TIMEOUT_MS;
    // Polls, since suspended messages may be resumed.
    do await delay(FLUSH_MS);
    while (!this.hasFlushed && performance.now() < end);
    // Nest closes the connection without waiting until the broker has the replies.
    await Promise.race([
      this.transport?.sent?.().catch(() => undefined),
      delay(Math.max(0, end - performance.now()), undefined, { ref: false }),
    ]);
  }
}

function callerAndChangeOf(data: unknown): Pick<AnsweredMessage, 'caller' | 'change'> {
  if (typeof data !== 'object' || data === null) return { caller: undefined };
  const { caller, change } = stateOf(data);
  return { caller: caller?.id, change };
}
