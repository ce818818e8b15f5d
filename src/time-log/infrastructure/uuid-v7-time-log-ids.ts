import { randomFillSync } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { TimeLogIds } from '../domain/time-log-ids.js';

/** The maximum step back of the clock that keeps ids in order. Larger steps are followed. */
const MAX_STEP_BACK_MS = 5_000;

/** Makes ids from the clock and a counter (RFC 9562, section 6.2, method 1). */
export class UuidV7TimeLogIds extends TimeLogIds {
  private readonly logger = new Logger(TimeLogIds.name);
  private time = -Infinity;
  private counter = 0;

  constructor(
    /** Returns the time in milliseconds since 1970. */
    private readonly now: () => number = () => Date.now(),
    /** Returns 16 random bytes. */
    private readonly random: () => Buffer = bufferedRandomBytes(),
  ) {
    super();
  }

  override next(): string {
    const now = this.now();
    const random = this.random();
    const stepBack = this.time - now;
    if (stepBack >= 0 && stepBack <= MAX_STEP_BACK_MS) {
      this.counter += 1;
    } else {
      if (stepBack > 0)
        this.logger.warn(
          `the clock went back by ${Math.round(stepBack / 1_000)} s: ids and createdAt follow it`,
        );
      this.time = now;
      // The highest of the 32 bits is 0, so the counter cannot overflow within a millisecond.
      this.counter = random.readUInt32BE(6) >>> 1;
    }
    return uuidV7(this.time, this.counter, random);
  }
}

/**
 * Returns a UUID of version 7 (RFC 9562, section 5.7) with a counter of 32 bits and 42 random bits.
 * The package uuid has no CommonJS build, which Jest needs in many hosts.
 */
function uuidV7(time: number, counter: number, random: Buffer): string {
  const bytes = Buffer.from(random);
  bytes.writeUIntBE(time, 0, 6);
  bytes.writeUInt16BE(0x7000 | (counter >>> 20), 6);
  bytes.writeUInt32BE(
    (0x80000000 | ((counter & 0xfffff) << 10) | (random.readUInt16BE(10) & 0x3ff)) >>> 0,
    8,
  );
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Returns a source of 16 random bytes. It reads 4 KB at a time: a read for each id is slow. */
function bufferedRandomBytes(): () => Buffer {
  const buffer = Buffer.alloc(4_096);
  let used = buffer.length;
  return () => {
    if (used === buffer.length) {
      randomFillSync(buffer);
      used = 0;
    }
    used += 16;
    return buffer.subarray(used - 16, used);
  };
}
