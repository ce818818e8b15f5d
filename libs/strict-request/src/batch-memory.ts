import type { ServerResponse } from 'node:http';
import { DomainError } from '../../errors/src/index.js';

const MIB = 1024 * 1024;

/** Limits the received bytes of all batches, each from its receipt until its response is closed. */
export class BatchMemory {
  private total = 0;
  private readonly byCaller = new Map<string | undefined, number>();

  /** The default for one caller leaves room for the batches of others. */
  constructor(
    private readonly maxBytes = 64 * MIB,
    private readonly maxBytesPerCaller = 32 * MIB,
  ) {}

  /**
   * Returns a function that counts bytes of a request until its response is closed. It throws
   * DomainError SERVICE_UNAVAILABLE above a limit.
   */
  counterFor(caller: string | undefined, response: ServerResponse): (bytes: number) => void {
    let counted = 0;
    response.once('close', () => this.add(caller, -counted));
    return (bytes) => {
      // A timeout of a host may have answered.
      if (response.closed) return;
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
