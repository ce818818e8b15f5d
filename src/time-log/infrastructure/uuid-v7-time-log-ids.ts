import { Injectable } from '@nestjs/common';
import { v7 } from 'uuid';
import { TimeLogIds } from '../domain/time-log-ids.js';

/** Identifiers from the clock of this process; the library steps on by itself where the clock steps back. */
@Injectable()
export class UuidV7TimeLogIds extends TimeLogIds {
  override next(): string {
    return v7();
  }
}
