import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { TimeLogIds } from 'time-logs/time-log';

/** Ids that tell where they were made: UUIDv7 (RFC 9562, section 5.7), whose last 4 digits are ours. */
@Injectable()
export class OurIds extends TimeLogIds {
  override next(): string {
    const time = Date.now().toString(16).padStart(12, '0');
    const random = randomBytes(7).toString('hex');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(6)}c0de`;
  }
}
