import { sizeName } from './data-set.js';
import { LOAD_NAMES, type LoadName } from './loads.js';
import { growth, type Measurement, percentBeside, ratio, type Results, summaryOf } from './results.js';
import { median } from './statistics.js';

/** The measured value of a target, and its load if the target is about the worst of several. */
export interface Found {
  readonly value: number;
  readonly load?: LoadName;
}

type Bound = { readonly least: number } | { readonly most: number };

/** A bound that the service is held to. */
export interface Target {
  readonly name: string;
  readonly bound: Bound;
  readonly unit: string;
  /** Undefined or NaN where the run has not measured it. */
  measure(results: Results): Found | undefined;
}

const [SMALL, MEDIUM, LARGE, LARGEST] = [10_000, 1_000_000, 10_000_000, 100_000_000];
const LISTS = LOAD_NAMES.filter((name) => name.startsWith('list') && name !== 'list-alone');
const TOTALS = LOAD_NAMES.filter((name) => name.startsWith('totals'));
const BOUND = LOAD_NAMES.filter((name) => name.startsWith('bound'));
const PAGES_OF_FEED = LOAD_NAMES.filter((name) => name.startsWith('feed'));

type Row = readonly [name: string, loads: readonly LoadName[], size: number];

/** The service over each baseline, at least. */
const THROUGHPUT: readonly (readonly [...Row, idiomatic: number, bare: number, careful?: number])[] = [
  ['create, 64 connections, 10k logs', ['create'], SMALL, 5, 3, 1.5],
  ['create with a key, 10k logs, without one of theirs', ['create-keyed'], SMALL, 4, 2.5],
  ['list, first page of one project, 10k logs', ['list-project'], SMALL, 3, 1.8, 1.3],
  ['the list that gains least, 10k logs', LISTS, SMALL, 2.3, 1.4],
  ['create, one connection, 10k logs', ['create-alone'], SMALL, 1.4, 0.95, 0.75],
  ['list, one connection, first page of one project, 10k logs', ['list-alone'], SMALL, 2, 1.25, 1],
  ['totals, a year of the largest project by month, 1m logs', ['totals-project-month'], MEDIUM, 50, 50],
  ['totals, a month by project, 1m logs', ['totals-by-project'], MEDIUM, 1, 1, 1],
  ['list, first page, no filter, 10m logs', ['list-first'], LARGE, 100, 100],
  ['list, last page, no filter, 10m logs', ['list-last'], LARGE, 200, 200],
];

/** The service over bare, at most. */
const CPU: readonly (readonly [...Row, most: number])[] = [
  ['create, 10k logs', ['create'], SMALL, 0.38],
  ['list, first page of one project, 10k logs', ['list-project'], SMALL, 0.6],
];

/**
 * The p50 of the service over that at 10k logs, or at another size, at most. At 10k most of 100 projects have no logs
 * in most months: what a caller of many projects asks has other work to do there.
 */
const GROWTH: readonly (readonly [name: string, loads: readonly LoadName[], most: number, from: number])[] = [
  ['the list that grows most', LISTS, 1.5, SMALL],
  ['the total that grows most', TOTALS, 1.5, SMALL],
  ['what a caller of some projects asks that grows most', BOUND, 1.5, MEDIUM],
  ['the page of the feed that grows most', PAGES_OF_FEED, 1.5, SMALL],
  ['create', ['create'], 1.3, SMALL],
];

/** The load that is worst for the service. Where one was not answered at all, that one is. */
function worst(
  loads: readonly LoadName[],
  bound: Bound,
  measure: (load: LoadName) => number | undefined,
): Found | undefined {
  const nothing = 'least' in bound ? 0 : Infinity;
  const found = loads.flatMap((load) => {
    const value = measure(load);
    return value === undefined ? [] : [{ value: Number.isNaN(value) ? nothing : value, load }];
  });
  const sorted = found.sort((one, other) => one.value - other.value);
  const chosen = sorted.at('least' in bound ? 0 : -1);
  return chosen && loads.length === 1 ? { value: chosen.value } : chosen;
}

const throughput = THROUGHPUT.flatMap(([name, loads, size, ...bounds]) =>
  bounds.map((least = NaN, index): Target => {
    const baseline = (['idiomatic', 'bare', 'careful'] as const)[index]!;
    const bound = { least };
    const measure = (results: Results) =>
      worst(loads, bound, (load) => ratio(results, { size, load }, baseline, 'perSecond'));
    return { name: `${name}: throughput of ${baseline}`, bound, unit: '×', measure };
  }),
);

const cpu = CPU.map(([name, [load], size, most]): Target => {
  const measure = (results: Results) => ({
    value: ratio(results, { size, load: load! }, 'bare', 'cpu') ?? NaN,
  });
  return { name: `${name}: CPU of bare`, bound: { most }, unit: '×', measure };
});

const growths = GROWTH.flatMap(([name, loads, most, from]) =>
  [LARGE, LARGEST].map((large): Target => ({
    name: `growth from ${sizeName(from)} logs to ${sizeName(large)} of ${name}: p50`,
    bound: { most },
    unit: '×',
    measure: (results) =>
      worst(loads, { most }, (load) => growth(results, { load, program: 'service' }, [from, large])),
  })),
);

const memoryOf = (found: Measurement) => summaryOf(found).memory;

export const TARGETS: readonly Target[] = [
  ...throughput,
  ...cpu,
  ...growths,
  {
    name: 'space beside the logs and their indexes, from 1m logs',
    bound: { most: 5 },
    unit: '%',
    measure: ({ spaces }) => {
      const space = spaces.at(-1);
      return space && space.size >= MEDIUM ? { value: percentBeside(space) } : undefined;
    },
  },
  {
    name: 'memory of the service under load',
    bound: { most: 256 },
    unit: 'MB',
    measure: ({ measurements }) => {
      const used = measurements.filter(({ program }) => program === 'service').map(memoryOf);
      return used.length === 0 ? undefined : { value: Math.max(...used) / 1e6 };
    },
  },
  {
    name: 'start of the service',
    bound: { most: 1_000 },
    unit: 'ms',
    measure: ({ starts }) => ({ value: median(starts) }),
  },
];
