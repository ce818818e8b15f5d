import { setTimeout as delay } from 'node:timers/promises';
import {
  type ArgumentsHost,
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Optional,
} from '@nestjs/common';
import { Drainable, type RequestChange, RequestState, stateOf } from '../../libs/request-state/src/index.js';
import { isJsonObject } from '../../libs/strict-request/src/index.js';
import { messageIdOf, patternOf } from './rpc-message.js';

/** The maximum time that a shutdown waits for the replies to messages. */
const DRAIN_TIMEOUT_MS = 5_000;
/** The maximum time that a shutdown waits until the transport has stopped receiving. */
const STOP_TIMEOUT_MS = 1_000;
/** The time for the last replies to leave the process: a closed transport loses unsent data. */
const FLUSH_MS = 100;

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
  private count = 0;
  /** The time when a message last ended, in milliseconds of `performance.now()`. */
  private lastEndedAt = -Infinity;
  private drained: Promise<void> | undefined;
  /** Whether no message may start any more. */
  isDraining = false;
  /** Stops the transport of the service; undefined if the host connects its own. */
  stopReceiving: (() => Promise<void>) | undefined;

  constructor(@Optional() @Inject(ON_MESSAGE) private readonly onMessage?: OnMessage) {
    super();
  }

  /** Runs work on a message, for which a shutdown waits. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.count++;
    try {
      return await work();
    } finally {
      this.count--;
      this.lastEndedAt = performance.now();
    }
  }

  /** Reports a message that was answered. Returns its id. */
  report(host: ArgumentsHost, error?: ErrorReply): { readonly id: string } {
    const rpc = host.switchToRpc();
    const [data, context] = [rpc.getData<unknown>(), rpc.getContext<unknown>()];
    const id = messageIdOf(context);
    const { caller, change, startedAt } = isJsonObject(data) ? stateOf(data) : new RequestState();
    this.onMessage?.({
      id,
      pattern: patternOf(context),
      caller: caller?.id,
      change,
      milliseconds: performance.now() - startedAt,
      ...error,
    });
    return { id };
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
      this.stopReceiving?.().catch(() => undefined),
      delay(STOP_TIMEOUT_MS, undefined, { ref: false }),
    ]);
    this.isDraining = true;
    const end = performance.now() + DRAIN_TIMEOUT_MS;
    // Polls: between the guards and the handler, interceptors of a host may answer a message.
    do await delay(FLUSH_MS);
    while (!this.hasFlushed && performance.now() < end);
  }

  /** Whether the last replies had the time to leave the process. */
  private get hasFlushed(): boolean {
    return this.count === 0 && performance.now() >= this.lastEndedAt + FLUSH_MS;
  }
}
