import { LOAD_NAMES, type LoadName } from './loads.js';
import type { ProgramName } from './program.js';
import { growth, percentBeside, ratio, type Results, summaryOf } from './results.js';
import { median } from './statistics.js';

/** What was set before anything was built. */
export interface Target {
  readonly name: string;
  readonly bound: { readonly least: number } | { readonly most: number };
  readonly unit: string;
  /** NaN or undefined where the run has not measured it. */
  measure(results: Results): number | undefined;
}

const SMALL = 10_000;
const LARGE = 10_000_000;
const LISTS = LOAD_NAMES.filter((name) => name.startsWith('list'));
const PAGES_OF_FEED = LOAD_NAMES.filter((name) => name.startsWith('feed'));

const throughput = (
  name: string,
  load: LoadName,
  baseline: ProgramName,
  size: number,
  least: number,
): Target => ({
  name: `${name}: throughput of ${baseline}`,
  bound: { least },
  unit: '×',
  measure: (results) => (results.spread === 'usual' ? ratio(results, size, load, baseline) : undefined),
});

const FIRST_PAGE_OF_PROJECT = 'list, first page of one project, 10k logs';
const FIRST_PAGE = 'list, first page, no filter, 10m logs';
const LAST_PAGE = 'list, last page, no filter, 10m logs';

/** Growth counts for the spread over all years too: its largest size is below 10m. */
const sizesOfGrowth = ({ spread, measurements }: Results): [number, number] => [
  SMALL,
  spread === 'ages' ? Math.max(...measurements.map(({ size }) => size), 1_000_000) : LARGE,
];

const worstGrowth = (results: Results, loads: readonly LoadName[]) => {
  const found = loads.flatMap((load) => growth(results, load, 'service', sizesOfGrowth(results)) ?? []);
  // Where nothing was answered any more, there is no p50 to show how much it has grown.
  const grown = found.map((times) => (Number.isNaN(times) ? Infinity : times));
  return grown.length === 0 ? undefined : Math.max(...grown);
};

export const TARGETS: readonly Target[] = [
  throughput('create, 64 connections, 10k logs', 'create', 'idiomatic', SMALL, 1.8),
  throughput('create, 64 connections, 10k logs', 'create', 'bare', SMALL, 1.2),
  throughput(FIRST_PAGE_OF_PROJECT, 'list-project', 'idiomatic', SMALL, 1.5),
  throughput(FIRST_PAGE_OF_PROJECT, 'list-project', 'bare', SMALL, 1),
  throughput(FIRST_PAGE, 'list-first', 'idiomatic', LARGE, 100),
  throughput(FIRST_PAGE, 'list-first', 'bare', LARGE, 100),
  throughput(LAST_PAGE, 'list-last', 'idiomatic', LARGE, 200),
  throughput(LAST_PAGE, 'list-last', 'bare', LARGE, 200),
  {
    name: 'growth from 10k logs to 10m (or all years) of the list that grows most: p50',
    bound: { most: 1.5 },
    unit: '×',
    measure: (results) => worstGrowth(results, LISTS),
  },
  {
    name: 'growth from 10k logs to 10m (or all years) of the page of the feed that grows most: p50',
    bound: { most: 1.5 },
    unit: '×',
    measure: (results) => worstGrowth(results, PAGES_OF_FEED),
  },
  {
    name: 'growth from 10k logs to 10m (or all years) of create: p50',
    bound: { most: 1.3 },
    unit: '×',
    measure: (results) => worstGrowth(results, ['create']),
  },
  {
    name: 'space beside the logs and their indexes, from 1m logs',
    bound: { most: 15 },
    unit: '%',
    measure: ({ spread, spaces }) => {
      const space = spaces.at(-1);
      return spread === 'usual' && space && space.size >= 1_000_000 ? percentBeside(space) : undefined;
    },
  },
  {
    name: 'memory of the service under load',
    bound: { most: 256 },
    unit: 'MB',
    measure: ({ measurements }) => {
      const used = measurements
        .filter(({ program }) => program === 'service')
        .map((found) => summaryOf(found).memory);
      return used.length === 0 ? undefined : Math.max(...used) / 1e6;
    },
  },
  {
    name: 'start of the service',
    bound: { most: 2_000 },
    unit: 'ms',
    measure: ({ starts }) => median(starts),
  },
];
