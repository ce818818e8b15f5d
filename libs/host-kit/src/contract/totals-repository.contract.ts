import { deepEqual, equal } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Grouping } from '../../../../src/totals/index.js';
import {
  ALL_PROJECTS,
  PageRequest,
  Period,
  type TimeLogFilter,
  type TimeLogValues,
} from '../../../../src/time-log/index.js';
import { type ContractSubject, type ContractSuite, find } from './contract-suite.js';

const ALL = PageRequest.of(1, 1000);
const NO_GROUPS = { whole: { count: 0, duration: '0' }, groups: [], groupCount: 0 };
const GROUPINGS: Grouping[] = [
  'project',
  'day',
  'week',
  'month',
  'project,day',
  'project,week',
  'project,month',
];
const { MAX_VALUE, MIN_VALUE, MAX_SAFE_INTEGER } = Number;

/** The decimal digits of the largest double and its zeros, and the decimals of the smallest one. */
const MAX = ['17976931348623157', '0'.repeat(292)] as const;
const MIN = `${'0'.repeat(323)}5`;

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

/** The grouping, the period, and the groups as `from to count duration`. */
const BY_PERIOD: ['day' | 'week' | 'month', string | undefined, string | undefined, string[]][] = [
  [
    'week',
    undefined,
    undefined,
    [
      '9999-12-27 9999-12-31 2 6144',
      '9999-12-20 9999-12-26 1 1024',
      '2026-01-26 2026-02-01 2 768',
      '2026-01-05 2026-01-11 1 128',
      '2025-12-29 2026-01-04 2 96',
      '2025-12-22 2025-12-28 1 16',
      '2024-02-26 2024-03-03 1 8',
      '0001-01-08 0001-01-14 1 4',
      '0001-01-01 0001-01-07 2 3',
    ],
  ],
  [
    'month',
    undefined,
    undefined,
    [
      '9999-12-01 9999-12-31 3 7168',
      '2026-02-01 2026-02-28 1 512',
      '2026-01-01 2026-01-31 3 448',
      '2025-12-01 2025-12-31 2 48',
      '2024-02-01 2024-02-29 1 8',
      '0001-01-01 0001-01-31 3 7',
    ],
  ],
  [
    'day',
    '2025-12-29',
    '2026-01-31',
    [
      '2026-01-31 2026-01-31 1 256',
      '2026-01-05 2026-01-05 1 128',
      '2026-01-04 2026-01-04 1 64',
      '2025-12-29 2025-12-29 1 32',
    ],
  ],
  [
    'week',
    '2025-12-30',
    '2026-01-31',
    ['2026-01-26 2026-01-31 1 256', '2026-01-05 2026-01-11 1 128', '2025-12-30 2026-01-04 1 64'],
  ],
  ['month', '2026-01-05', '2026-02-01', ['2026-02-01 2026-02-01 1 512', '2026-01-05 2026-01-31 2 384']],
  ['week', '2026-01-28', '2026-01-31', ['2026-01-28 2026-01-31 1 256']],
  ['month', '2024-02-29', '2024-02-29', ['2024-02-29 2024-02-29 1 8']],
  ['month', '2024-03-01', '2024-03-31', []],
  ['week', '9999-12-30', undefined, ['9999-12-30 9999-12-31 1 4096']],
  ['week', undefined, '0001-01-06', ['0001-01-01 0001-01-06 1 1']],
];

/** Adds the cases of totals. */
export function describeTotals(
  suite: ContractSuite,
  { repository, newLog }: ContractSubject,
  repositoryOfTotals: NonNullable<ContractSubject['totals']>,
): void {
  suite.describe('totals', () => {
    const totals = (filter: TimeLogFilter, by?: Grouping, page = ALL) =>
      repositoryOfTotals().totals(filter, by, page, ALL_PROJECTS);
    /** Adds logs of a new project. Returns its id and a filter for it. */
    async function addAll(values: Partial<TimeLogValues>[]) {
      const projectId = randomUUID();
      await Promise.all(values.map((some) => repository().add(newLog({ ...some, projectId }))));
      return { projectId, filter: { projectIds: [projectId], period: Period.of() } };
    }
    const addDurations = (durations: readonly number[], date = '2026-01-31') =>
      addAll(durations.map((duration) => ({ duration, date })));

    suite.each([undefined, ...GROUPINGS], 'of no logs are zero, without groups (by %s)', async (by) => {
      const filter = { projectIds: [randomUUID()], period: Period.of() };
      deepEqual(await totals(filter, by), NO_GROUPS);
    });

    suite.each<[string, number[], string]>(
      [
        ['tenths', [0.1, 0.2], '0.3'],
        ['a tenth a thousand times', Array<number>(1000).fill(0.1), '100'],
        ['halves', [1.5, 1.5], '3'],
        ['tens', [10, 90], '100'],
        ['a large number and a small one', [1e21, 1e-7], '1000000000000000000000.0000001'],
        ['numbers with 17 digits', [0.1 + 0.2, 123456789.12345679], '123456789.42345679000000004'],
        ['the largest number twice', [MAX_VALUE, MAX_VALUE], `35953862697246314${MAX[1]}`],
        ['the largest number and the smallest', [MAX_VALUE, MIN_VALUE], `${MAX.join('')}.${MIN}`],
        ['the smallest number', [MIN_VALUE], `0.${MIN}`],
      ],
      'are exact decimals: %s',
      async (_what, durations, duration) => {
        const { projectId, filter } = await addDurations(durations);
        const sum = { count: durations.length, duration };
        const day = { from: '2026-01-31', to: '2026-01-31' };
        deepEqual(await totals(filter), { whole: sum, groups: [], groupCount: 0 });
        for (const [by, group] of [
          ['day', day],
          ['project', { projectId }],
          ['project,day', { projectId, ...day }],
        ] as const)
          deepEqual(await totals(filter, by), { whole: sum, groups: [{ ...group, ...sum }], groupCount: 1 });
      },
    );

    suite.describe('by period', () => {
      let projectId: string;
      suite.before(async () => {
        const days = Object.entries(DAYS).map(([date, duration]) => ({ date, duration }));
        ({ projectId } = await addAll(days));
      });

      suite.each(BY_PERIOD, '%s from %s to %s: newest first, clipped', async (by, from, to, expected) => {
        const filter = { projectIds: [projectId], period: Period.of(from, to) };
        const groups = expected.map((line) => {
          const [first, last, count, duration] = line.split(' ');
          return { from: first!, to: last!, count: Number(count), duration: duration! };
        });
        const sum = (numbers: number[]) => numbers.reduce((all, number) => all + number, 0);
        const all = {
          whole: {
            count: sum(groups.map(({ count }) => count)),
            duration: String(sum(groups.map(({ duration }) => Number(duration)))),
          },
          groups,
          groupCount: groups.length,
        };
        deepEqual(await totals(filter, by), all);
        deepEqual(await totals(filter, `project,${by}`), {
          ...all,
          groups: groups.map((group) => ({ projectId, ...group })),
        });
        for (const group of groups) {
          const own = { projectIds: [projectId], period: Period.of(group.from, group.to) };
          equal((await find(repository(), own, ALL, ALL_PROJECTS)).total, group.count);
        }
      });

      suite.each(
        [
          [1, 2, ['9999-12-01', '2026-02-01']],
          [2, 2, ['2026-01-01', '2025-12-01']],
          [3, 4, []],
          [MAX_SAFE_INTEGER, 1000, []],
        ],
        'come in pages, with the overall sum on each: page %s of %s',
        async (number, limit, firsts) => {
          const found = await totals(
            { projectIds: [projectId], period: Period.of() },
            'month',
            PageRequest.of(number, limit),
          );
          deepEqual(
            found.groups.map((group) => 'from' in group && group.from),
            firsts,
          );
          deepEqual([found.whole, found.groupCount], [{ count: 13, duration: '8191' }, 6]);
        },
      );
    });

    suite.describe('by project', () => {
      /** A period in which no other test has logs. */
      const period = Period.of('3000-01-01', '3000-01-31');
      let projects: { readonly projectId: string; readonly count: number; readonly duration: string }[];
      suite.before(async () => {
        const sums: [number[], string][] = [
          [[10], '10'],
          [[9, 0.5], '9.5'],
          [[0.1 + 0.2], '0.30000000000000004'],
          [[0.1, 0.2], '0.3'],
          [[0.3], '0.3'],
          [[0.15, 0.05, 0.1], '0.3'],
          [[MIN_VALUE], `0.${MIN}`],
        ];
        projects = [];
        for (const [durations, duration] of sums) {
          const { projectId } = await addDurations(durations, '3000-01-15');
          projects.push({ projectId, count: durations.length, duration });
        }
        const ties = projects.slice(3, 6).toSorted((a, b) => (a.projectId < b.projectId ? -1 : 1));
        projects.splice(3, 3, ...ties);
      });

      suite.it('have the largest duration first, then the lowest project id', async () => {
        const { groups, ...rest } = await totals({ period }, 'project');
        deepEqual(groups, projects);
        const duration = `20.70000000000000004${MIN.slice(17)}`;
        deepEqual(rest, { whole: { count: 11, duration }, groupCount: 7 });
      });

      suite.it('come in pages, with the overall sum on each', async () => {
        for (const [number, limit] of [
          [1, 3],
          [2, 3],
          [3, 3],
          [4, 3],
          [MAX_SAFE_INTEGER, 1000],
        ] as const) {
          const found = await totals({ period }, 'project', PageRequest.of(number, limit));
          const start = (number - 1) * limit;
          deepEqual(found.groups, projects.slice(start, start + limit));
          deepEqual([found.whole.count, found.groupCount], [11, 7]);
        }
      });

      suite.it('exclude projects without logs in the period and projects outside the filter', async () => {
        const before = { period: Period.of('3000-01-01', '3000-01-14') };
        deepEqual(await totals(before, 'project'), NO_GROUPS);
        const { projectId, ...sum } = projects[1]!;
        deepEqual(await totals({ projectIds: [projectId], period }, 'project'), {
          whole: sum,
          groups: [projects[1]],
          groupCount: 1,
        });
        deepEqual(await totals({ projectIds: [projectId], period }, 'project', PageRequest.of(2, 1)), {
          whole: sum,
          groups: [],
          groupCount: 1,
        });
      });
    });

    suite.describe('by project and period', () => {
      /** Another period in which no other test has logs. */
      const period = Period.of('3001-01-30', '3001-03-01');
      let projects: string[];
      let expected: object[];
      suite.before(async () => {
        const added = [
          await addDurations([1], '3001-01-29'),
          await addAll([
            { date: '3001-02-01', duration: 0.1 },
            { date: '3001-02-28', duration: 0.2 },
            { date: '3001-03-01', duration: 5 },
            { date: '3001-03-02', duration: 7 },
          ]),
          await addDurations([2, 4], '3001-01-31'),
        ];
        projects = added.map(({ projectId }) => projectId);
        const [, first, second] = projects;
        expected = [
          { projectId: first, from: '3001-03-01', to: '3001-03-01', count: 1, duration: '5' },
          { projectId: first, from: '3001-02-01', to: '3001-02-28', count: 2, duration: '0.3' },
          { projectId: second, from: '3001-01-30', to: '3001-01-31', count: 2, duration: '6' },
        ];
        if (first! > second!) expected.unshift(expected.pop()!);
      });

      suite.it('have the lowest project id first, then the newest period, in pages', async () => {
        for (const [number, limit] of [
          [1, 1000],
          [1, 2],
          [2, 2],
          [MAX_SAFE_INTEGER, 1000],
        ] as const)
          for (const filter of [{ period }, { period, projectIds: projects }])
            deepEqual(await totals(filter, 'project,month', PageRequest.of(number, limit)), {
              whole: { count: 5, duration: '11.3' },
              groups: expected.slice((number - 1) * limit, number * limit),
              groupCount: 3,
            });
      });
    });

    suite.each(
      [undefined, ...GROUPINGS],
      'come from one snapshot while logs are added (by %s)',
      async (by) => {
        const { projectId, filter } = await addDurations([1]);
        const adding = Promise.all(
          Array.from({ length: 8 }, async () => {
            for (let number = 0; number < 5; number++) await repository().add(newLog({ projectId }));
          }),
        );
        const reads = Array.from({ length: 30 }, () => totals(filter, by));
        for (const { whole, groups } of await Promise.all(reads)) {
          equal(whole.duration, String(whole.count));
          if (by !== undefined)
            deepEqual(
              groups.map(({ count, duration }) => ({ count, duration })),
              [whole],
            );
        }
        await adding;
        deepEqual((await totals(filter, by)).whole, {
          count: 41,
          duration: '41',
        });
      },
    );
  });
}
