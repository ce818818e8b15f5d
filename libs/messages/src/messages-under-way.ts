import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type ArgumentsHost,
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Optional,
} from '@nestjs/common';
import {
  Drainable,
  type RequestChange,
  type ResponseChannel,
  stateOf,
} from '../../strict-request/src/index.js';
import { messageIdOf, messageOf, patternOf, socketOf } from './rpc-message.js';

/** The most milliseconds that a shutdown waits for the answers to messages. */
const GRACE = 5_000;
/** The most milliseconds that the transport may take to bring no more. */
const STOP_LIMIT = 1_000;
/** Milliseconds for the last answers to leave the process: a closed transport loses what it has not sent. */
const FLUSH = 100;

/** What brings messages to the service, and takes its answers. */
export interface MessageTransport {
  /** Takes no more messages. Resolves when the last one that was on its way has come. */
  stopTaking(): Promise<void>;
  /** With a broker: whether it has yet to take so much that no more messages are begun. */
  readonly isFull?: boolean;
  /** With a broker: resolves when it has the answers that were handed over, or they are lost. */
  sent?(): Promise<unknown>;
}

/** How a message was answered with an error. */
export interface MessageFault {
  /** Its code, and the status that HTTP has for it. */
  readonly error: string;
  readonly status: number;
  /** The message of the error for the log: without names that the caller made up. */
  readonly reason: string | undefined;
}

/** A message that has its answer. */
export interface AnsweredMessage extends Partial<MessageFault> {
  readonly id: string;
  readonly pattern: string;
  /** The id of its caller, where it has passed the guard. */
  readonly caller: string | undefined;
  /** What it has changed. */
  readonly change?: RequestChange | undefined;
  readonly milliseconds: number;
}

/** Called with each message when it has its answer: the access log of an app. */
export type OnMessage = (message: AnsweredMessage) => void;
export const ON_MESSAGE = Symbol('ON_MESSAGE');

/**
 * The messages without an answer yet. The shutdown waits for them before Nest closes the transports, which would lose
 * the answers.
 */
@Injectable()
export class MessagesUnderWay extends Drainable implements BeforeApplicationShutdown {
  /** When each came, in milliseconds. */
  private readonly begun = new WeakMap<object, number>();
  private readonly underWay = new Set<object>();
  /** When the last one was answered, or came into the hands of the host. */
  private changed = -Infinity;
  private isShuttingDown = false;
  private onLast: (() => void) | undefined;
  private drained: Promise<void> | undefined;
  /** That of the service. A host's own says nothing. */
  transport: MessageTransport | undefined;

  constructor(@Optional() @Inject(ON_MESSAGE) private readonly onMessage?: OnMessage) {
    super();
  }

  /** Counts a message. Returns false where no more are taken: during a shutdown, or while too many answers wait. */
  begin(host: ArgumentsHost): boolean {
    if (this.isShuttingDown || this.transport?.isFull) return false;
    this.begun.set(messageOf(host), performance.now());
    this.enter(host);
    return true;
  }

  /** Counts a message that was let pass before, also during a shutdown. */
  enter(host: ArgumentsHost): void {
    this.underWay.add(messageOf(host));
  }

  /** A message is in the hands of the host: it may be answered without us, and is not waited for. */
  leave(host: ArgumentsHost): void {
    this.remove(messageOf(host));
  }

  /** A message has its answer, also one that was not counted. Returns its id. */
  end(host: ArgumentsHost, fault?: MessageFault): { readonly id: string } {
    const now = performance.now();
    const message = messageOf(host);
    const milliseconds = now - (this.begun.get(message) ?? now);
    const id = messageIdOf(host);
    this.onMessage?.({
      id,
      pattern: patternOf(host.switchToRpc().getContext()),
      ...notesOf(host.switchToRpc().getData()),
      milliseconds,
      ...fault,
    });
    this.remove(message);
    return { id };
  }

  /** Where the answer to a message goes. */
  outletOf(host: ArgumentsHost): ResponseChannel {
    const socket = socketOf(host);
    if (socket) return outletTo(socket);
    return {
      isClosed: () => false,
      sent: () => this.transport?.sent?.() ?? Promise.resolve(),
      close: () => undefined,
    };
  }

  private remove(message: object): void {
    if (!this.underWay.delete(message)) return;
    this.changed = performance.now();
    if (this.underWay.size === 0) this.onLast?.();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.drain();
  }

  override drain(): Promise<void> {
    return (this.drained ??= this.endAll());
  }

  private async endAll(): Promise<void> {
    // A broker that is away says nothing.
    await Promise.race([
      this.transport?.stopTaking().catch(() => undefined),
      delay(STOP_LIMIT, undefined, { ref: false }),
    ]);
    this.isShuttingDown = true;
    const end = performance.now() + GRACE;
    do {
      if (this.underWay.size > 0) await this.last(end - performance.now());
      // In this time those come back that were in the hands of the host.
      await delay(FLUSH);
    } while (performance.now() < Math.min(end, this.underWay.size > 0 ? end : this.changed + FLUSH));
    // What closes the connection does not wait for answers that the broker has yet to take.
    await Promise.race([
      this.transport?.sent?.().catch(() => undefined),
      delay(Math.max(0, end - performance.now()), undefined, { ref: false }),
    ]);
  }

  private last(limit: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limit);
      this.onLast = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function notesOf(data: unknown): Pick<AnsweredMessage, 'caller' | 'change'> {
  if (typeof data !== 'object' || data === null) return { caller: undefined };
  const { caller, change } = stateOf(data);
  return { caller: caller?.id, change };
}

/** The outlet of a client with a connection of its own. */
function outletTo(socket: Socket): ResponseChannel {
  return {
    isClosed: () => socket.destroyed,
    // It is written after all that waits.
    sent: () => new Promise((resolve) => socket.write('', resolve)),
    close: () => socket.destroy(),
  };
}
