import { randomUUID } from 'node:crypto';
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
    /** Returns a UUID of version 4, whose first 8 and last 12 digits are random. */
    private readonly random: () => string = randomUUID,
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
      // The highest of the 26 bits is 0, so the counter cannot overflow while the time stands.
      this.counter = Number.parseInt(random.slice(0, 8), 16) >>> 7;
    }
    return uuidV7(this.time, this.counter, random);
  }
}

/**
 * Returns a UUID of version 7 (RFC 9562, section 5.7) with a counter of 26 bits and the last 48 bits of a random UUID.
 * The package uuid has no CommonJS build, which Jest needs in many hosts.
 */
function uuidV7(time: number, counter: number, random: string): string {
  const milliseconds = time.toString(16).padStart(12, '0');
  const high = (0x7000 | (counter >>> 14)).toString(16);
  const low = (0x8000 | (counter & 0x3fff)).toString(16);
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}-${high}-${low}-${random.slice(24)}`;
}
