import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TimeLog } from '../domain/time-log.js';
import { UuidV7TimeLogIds } from './uuid-v7-time-log-ids.js';

const NOW = Date.UTC(2026, 0, 31, 9, 30);
const DAY_MS = 86_400_000;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const values = { projectId: '', duration: 1, description: '', date: '2026-01-31' };

/** Returns `createdAt` of a log with this id, in milliseconds. */
const createdAt = (id: string) => TimeLog.restore({ ...values, id }).createdAt.getTime();

describe('UuidV7TimeLogIds', () => {
  let now: number;
  let warnings: unknown[];
  let ids: UuidV7TimeLogIds;

  beforeEach(() => {
    now = NOW;
    warnings = [];
    const ignore = () => undefined;
    const warn = (message: unknown) => void warnings.push(message);
    Logger.overrideLogger({ log: ignore, error: ignore, warn });
    ids = new UuidV7TimeLogIds(() => now);
  });
  afterEach(() => {
    Logger.overrideLogger(false);
  });

  it('makes UUIDs of version 7 with the time of the clock', () => {
    const [first, second] = [ids.next(), ((now += 1), ids.next())];
    expect([first, second]).toEqual([expect.stringMatching(UUID_V7), expect.stringMatching(UUID_V7)]);
    expect([createdAt(first), createdAt(second)]).toEqual([NOW, NOW + 1]);
  });

  it('places time, counter and random bits as RFC 9562 does', () => {
    ids = new UuidV7TimeLogIds(
      () => now,
      () => 'f6a7b8d9-0000-4000-8000-0afbfcfdfeff',
    );
    // The counter starts at 0xf6a7b8d9 >>> 7 = 0x1ed4f71: 0x7b5 and 0x0f71, whose first two bits are the variant.
    expect([ids.next(), ids.next()]).toEqual([
      '019c1363-49c0-77b5-8f71-0afbfcfdfeff',
      '019c1363-49c0-77b5-8f72-0afbfcfdfeff',
    ]);
  });

  it('makes ordered and unique ids within a millisecond', () => {
    const made = Array.from({ length: 5_000 }, () => ids.next());
    expect(made).toEqual(made.toSorted());
    expect(new Set(made).size).toBe(made.length);
    expect(new Set(made.map(createdAt))).toEqual(new Set([NOW]));
  });

  it('keeps the order if every random bit is set', () => {
    ids = new UuidV7TimeLogIds(
      () => now,
      () => 'ffffffff-ffff-4fff-bfff-ffffffffffff',
    );
    const made = Array.from({ length: 1_000 }, () => ids.next());
    expect(made).toEqual(made.toSorted());
    expect(new Set(made.map(createdAt))).toEqual(new Set([NOW]));
  });

  it('keeps the order after small steps back of the clock, without a warning', () => {
    const made = [0, -1, -200, 100, -4_900, -4_899, 101].map((step) => {
      now = NOW + step;
      return ids.next();
    });
    expect(made).toEqual(made.toSorted());
    expect(made.map((id) => createdAt(id) - NOW)).toEqual([0, 0, 0, 100, 100, 100, 101]);
    expect(warnings).toEqual([]);
  });

  it('follows the clock after a larger step back, and warns once', () => {
    now = NOW + 1_500 * DAY_MS;
    expect(createdAt(ids.next())).toBe(now);
    now = NOW;
    const made = Array.from({ length: 1_000 }, () => ((now += 1), ids.next()));
    expect(made.map(createdAt)).toEqual(Array.from({ length: 1_000 }, (_, index) => NOW + index + 1));
    expect(made).toEqual(made.toSorted());
    expect(warnings).toEqual(['the clock went back by 129600000 s: ids and createdAt follow it']);
  });
});
