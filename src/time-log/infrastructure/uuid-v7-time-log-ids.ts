import { randomFillSync } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { TimeLogIds } from '../domain/time-log-ids.js';

/**
 * The most milliseconds by which the clock may step back while ids stay in order. After more they follow the clock.
 */
const SMALL_STEP = 5_000;

/**
 * Makes ids from the clock of this process. Within one millisecond they count up (RFC 9562, section 6.2, method 1).
 */
export class UuidV7TimeLogIds extends TimeLogIds {
  private readonly logger = new Logger(TimeLogIds.name);
  private time = -Infinity;
  private counter = 0;

  constructor(
    /** Milliseconds since 1970. */
    private readonly now: () => number,
    /** 16 random bytes. */
    private readonly random: () => Buffer,
  ) {
    super();
  }

  override next(): string {
    const now = this.now();
    const random = this.random();
    const stepBack = this.time - now;
    if (stepBack >= 0 && stepBack <= SMALL_STEP) {
      this.counter += 1;
    } else {
      if (stepBack > 0)
        this.logger.warn(
          `the clock went back by ${Math.round(stepBack / 1_000)} s: ids and createdAt follow it`,
        );
      this.time = now;
      // The highest of its 32 bits is 0, so that it cannot overflow within a millisecond.
      this.counter = random.readUInt32BE(6) >>> 1;
    }
    return uuidV7(this.time, this.counter, random);
  }
}

/**
 * A UUID of version 7 (RFC 9562, section 5.7): 48 bits of time, the version, the counter in 12 and 20 bits around the
 * variant, and 42 random bits. The package uuid is no CommonJS, which the Jest of many hosts needs.
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

/** Returns 16 random bytes. It draws 4 KB at a time: a draw for each id would take most of an id's time. */
export function randomBytesInAdvance(): () => Buffer {
  const drawn = Buffer.alloc(4_096);
  let used = drawn.length;
  return () => {
    if (used === drawn.length) {
      randomFillSync(drawn);
      used = 0;
    }
    used += 16;
    return drawn.subarray(used - 16, used);
  };
}
