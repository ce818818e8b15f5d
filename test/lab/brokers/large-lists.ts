import { expect, jest } from '@jest/globals';
import { InFlightMessages } from '../../../libs/messages/src/in-flight-messages.js';
import { TimeLogService } from '../../../src/time-log/application/time-log.service.js';
import { itemsOf } from '../../../src/time-log/domain/time-log-item.js';
import { TimeLog } from '../../../src/time-log/index.js';
import { type Gate, newGate } from '../../support/gate.js';
import { LOG } from '../../support/requests.js';

/** A message that asks for a list. */
export const LIST = Buffer.from(
  JSON.stringify({
    id: '1',
    pattern: 'time-log.list.v1',
    data: { accessToken: 'reader', query: { limit: 45 } },
  }),
);
/** How often it is sent. All answers together are twice as large as what may wait for a broker. */
export const LISTS = 150;
/** The lists of 64 MiB, and some in flight. */
const MAX_LISTS = 80;

/** Lists that are found when the gate is open. */
export interface HeldLists {
  readonly gate: Gate;
  /** How many were asked for. */
  asked(): number;
  /** How many messages have their answer, which may wait for the broker. */
  answered(): number;
  restore(): void;
}

/** Has every list found as one of 0.9 MB. */
export function holdLists(): HeldLists {
  const gate = newGate();
  const log = TimeLog.record(
    { ...LOG, description: '😀'.repeat(5_000) },
    '019c1363-4a3b-7c4e-9b1d-2f6a8e3c5d70',
  );
  const logs = Array<TimeLog>(45).fill(log);
  const list = jest.spyOn(TimeLogService.prototype, 'items').mockImplementation(async () => {
    await gate.opened;
    return { items: itemsOf(logs), total: logs.length };
  });
  const end = jest.spyOn(InFlightMessages.prototype, 'end');
  return {
    gate,
    asked: () => list.mock.calls.length,
    answered: () => end.mock.calls.length,
    restore: () => [list, end].forEach((spy) => spy.mockRestore()),
  };
}

/**
 * Expects of the answers to all LISTS that no more were lists than may wait for a broker, and that the others say so.
 */
export function expectMostRefused(answers: readonly string[]): void {
  const refused = answers.filter((text) => text.includes('"error":"SERVICE_UNAVAILABLE"'));
  const lists = answers.filter((text) => text.length > 400_000);
  expect(lists.length + refused.length).toBe(LISTS);
  expect(lists.length).toBeGreaterThan(0);
  expect(lists.length).toBeLessThan(MAX_LISTS);
}
