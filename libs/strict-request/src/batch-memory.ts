import type { IncomingMessage, ServerResponse } from 'node:http';
import { DomainError } from '../../errors/src/index.js';

const MIB = 1024 * 1024;

/** Limits the received bytes of all batches, each from its receipt until `isOver`. */
export class BatchMemory {
  private total = 0;
  private readonly byCaller = new Map<string | undefined, number>();

  /** The default for one caller leaves room for the batches of others. */
  constructor(
    private readonly maxBytes = 64 * MIB,
    private readonly maxBytesPerCaller = 32 * MIB,
  ) {}

  /**
   * Returns a function that counts bytes of a request until it is over. It throws DomainError
   * SERVICE_UNAVAILABLE above a limit.
   */
  counterFor(
    caller: string | undefined,
    { socket }: Pick<IncomingMessage, 'socket'>,
    response: ServerResponse,
  ): (bytes: number) => void {
    let counted = 0;
    const end = () => {
      response.off('close', end);
      socket.off('close', end);
      this.add(caller, -counted);
    };
    response.once('close', end);
    socket.once('close', end);
    return (bytes) => {
      if (isOver({ socket }, response)) return;
      const ofCaller = (this.byCaller.get(caller) ?? 0) + bytes;
      if (this.total + bytes > this.maxBytes || ofCaller > this.maxBytesPerCaller)
        throw new DomainError('SERVICE_UNAVAILABLE', 'too many batches are under way: send fewer at a time');
      counted += bytes;
      this.add(caller, bytes);
    };
  }

  private add(caller: string | undefined, bytes: number): void {
    this.total += bytes;
    const ofCaller = (this.byCaller.get(caller) ?? 0) + bytes;
    if (ofCaller === 0) this.byCaller.delete(caller);
    else this.byCaller.set(caller, ofCaller);
  }
}

/**
 * Returns whether nobody waits for a response: a timeout of a host may have answered. A response behind another one of
 * its connection is not closed with the connection.
 */
export function isOver({ socket }: Pick<IncomingMessage, 'socket'>, response: ServerResponse): boolean {
  return response.closed || socket.destroyed;
}
