import { describe, expect, it } from '@jest/globals';
import { PageRequest, Period } from '../../../../src/time-log/index.js';
import { newLog } from '../contract/new-log.js';
import { totalsOf } from './totals-of.js';

const ALL = PageRequest.of(1, 1000);
const { MAX_VALUE, MIN_VALUE } = Number;
/** The zeros of the largest double, and the decimals of the smallest one. */
const [ZEROS, MIN] = ['0'.repeat(292), `${'0'.repeat(323)}5`];

/** Durations by day, on both sides of the boundaries of weeks, months, years and the calendar. */
const DAYS: Readonly<Record<string, number>> = {
  '0001-01-01': 1, // Monday
  '0001-01-07': 2,
  '0001-01-08': 4,
  '2024-02-29': 8,
  '2025-12-28': 16, // Sunday
  '2025-12-29': 32,
  '2026-01-04': 64, // Sunday
  '2026-01-05': 128,
  '2026-01-31': 256,
  '2026-02-01': 512, // Sunday
  '9999-12-26': 1024, // Sunday
  '9999-12-27': 2048,
  '9999-12-31': 4096,
};
const [FIRST, LAST] = ['0001-01-01', '9999-12-31'];

/** The grouping, the period, and the groups as `from to duration`. */
const BY_PERIOD: ['day' | 'week' | 'month', string, string, string[]][] = [
  [
    'week',
    FIRST,
    LAST,
    [
      ...['9999-12-27 9999-12-31 6144', '9999-12-20 9999-12-26 1024', '2026-01-26 2026-02-01 768'],
      ...['2026-01-05 2026-01-11 128', '2025-12-29 2026-01-04 96', '2025-12-22 2025-12-28 16'],
      ...['2024-02-26 2024-03-03 8', '0001-01-08 0001-01-14 4', '0001-01-01 0001-01-07 3'],
    ],
  ],
  [
    'month',
    FIRST,
    LAST,
    [
      ...['9999-12-01 9999-12-31 7168', '2026-02-01 2026-02-28 512', '2026-01-01 2026-01-31 448'],
      ...['2025-12-01 2025-12-31 48', '2024-02-01 2024-02-29 8', '0001-01-01 0001-01-31 7'],
    ],
  ],
  ['day', '2026-01-05', '2026-01-31', ['2026-01-31 2026-01-31 256', '2026-01-05 2026-01-05 128']],
  ['week', '2025-12-30', '2026-01-04', ['2025-12-30 2026-01-04 64']],
  ['week', '2026-01-28', '2026-01-31', ['2026-01-28 2026-01-31 256']],
  ['month', '2026-01-05', '2026-02-01', ['2026-02-01 2026-02-01 512', '2026-01-05 2026-01-31 384']],
  ['month', '2024-03-01', '2024-03-31', []],
];

describe('totals in memory', () => {
  it.each([
    [[], '0'],
    [[0.1, 0.2], '0.3'],
    [Array<number>(1000).fill(0.1), '100'],
    [[1e21, 1e-7], '1000000000000000000000.0000001'],
    [[0.1 + 0.2, 123456789.12345679], '123456789.42345679000000004'],
    [[MAX_VALUE, MAX_VALUE], `35953862697246314${ZEROS}`],
    [[MAX_VALUE, MIN_VALUE], `17976931348623157${ZEROS}.${MIN}`],
  ])('are exact decimals: %j', (durations, duration) => {
    const logs = durations.map((each) => newLog({ duration: each }));
    const whole = { count: durations.length, duration };
    expect(totalsOf(logs, Period.of(), undefined, ALL)).toEqual({ whole, groups: [], groupCount: 0 });
  });

  it.each(BY_PERIOD)('by %s from %s to %s come newest first, clipped', (by, from, to, expected) => {
    const logs = Object.entries(DAYS)
      .filter(([date]) => from <= date && date <= to)
      .map(([date, duration]) => newLog({ date, duration }));
    const { groups } = totalsOf(logs, Period.of(from, to), by, ALL);
    const lines = groups.map((group) => 'from' in group && `${group.from} ${group.to} ${group.duration}`);
    expect(lines).toEqual(expected);
  });

  it('by project have the largest first, then the lowest id, in pages; with a period, the lowest id', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((digit) => `${digit}0000000-0000-4000-8000-000000000000`) as [
      string,
      string,
      string,
    ];
    const logs = [
      newLog({ projectId: b, duration: 0.3 }),
      newLog({ projectId: a, duration: 0.1 }),
      newLog({ projectId: a, duration: 0.2, date: '2026-02-01' }),
      newLog({ projectId: c, duration: 0.1 + 0.2 }),
    ];
    const whole = { count: 4, duration: '0.90000000000000004' };
    const groups = [
      { projectId: c, count: 1, duration: '0.30000000000000004' },
      { projectId: a, count: 2, duration: '0.3' },
      { projectId: b, count: 1, duration: '0.3' },
    ];
    for (const [number, limit] of [
      [1, 3],
      [2, 2],
      [Number.MAX_SAFE_INTEGER, 1000],
    ] as const) {
      const start = (number - 1) * limit;
      const page = PageRequest.of(number, limit);
      const expected = { whole, groups: groups.slice(start, start + limit), groupCount: 3 };
      expect(totalsOf(logs, Period.of(), 'project', page)).toEqual(expected);
    }
    expect(totalsOf(logs, Period.of('2026-01-31'), 'project,month', ALL).groups).toEqual([
      { projectId: a, from: '2026-02-01', to: '2026-02-28', count: 1, duration: '0.2' },
      { projectId: a, from: '2026-01-31', to: '2026-01-31', count: 1, duration: '0.1' },
      { projectId: b, from: '2026-01-31', to: '2026-01-31', count: 1, duration: '0.3' },
      { projectId: c, from: '2026-01-31', to: '2026-01-31', count: 1, duration: '0.30000000000000004' },
    ]);
  });
});
