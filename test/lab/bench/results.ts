import type { Spread } from './data-set.js';
import type { Outcome } from './drive.js';
import type { LoadName } from './loads.js';
import type { ProgramName } from './program.js';
import { median } from './statistics.js';

/** One round of one program. */
export interface Round extends Outcome {
  /** Microseconds for each request of the program, and of all PostgreSQL; undefined where the system does not tell. */
  readonly cpu: number | undefined;
  readonly databaseCpu: number | undefined;
  /** Bytes that the program has held at most since its start. */
  readonly memory: number | undefined;
}

/** What one load on one program at one size has shown. */
export interface Measurement {
  readonly size: number;
  readonly load: LoadName;
  readonly program: ProgramName;
  readonly rounds: readonly Round[];
}

/** The bytes of the service's database, right after seeding. */
export interface Space {
  readonly size: number;
  /** Table and indexes of the logs. */
  readonly logs: number;
  /** By table: whatever else the service keeps about them. */
  readonly others: Readonly<Record<string, number>>;
}

/** All that a run has found; written as JSON. */
export interface Results {
  readonly date: string;
  readonly machine: {
    readonly cores: number;
    readonly memory: number;
    readonly node: string;
    readonly postgres: string;
  };
  readonly spread: Spread;
  readonly seconds: number;
  /** Milliseconds of each start of the service. */
  readonly starts: readonly number[];
  readonly spaces: readonly Space[];
  readonly measurements: readonly Measurement[];
}

/** A measurement in one number each: the median of its rounds; of memory the most. */
export function summaryOf({ rounds }: Measurement) {
  const middle = (key: 'perSecond' | 'p50' | 'p99' | 'cpu' | 'databaseCpu') =>
    median(rounds.map((round) => round[key] ?? NaN));
  return {
    perSecond: middle('perSecond'),
    p50: middle('p50'),
    p99: middle('p99'),
    cpu: middle('cpu'),
    databaseCpu: middle('databaseCpu'),
    memory: Math.max(...rounds.map(({ memory }) => memory ?? NaN)),
  };
}

/** Finds one measurement; undefined where the run has not made it. */
function find(
  { measurements }: Results,
  wanted: Pick<Measurement, 'size' | 'load' | 'program'>,
): Measurement | undefined {
  return measurements.find(
    ({ size, load, program }) => size === wanted.size && load === wanted.load && program === wanted.program,
  );
}

/** A figure of the service over that of a baseline; undefined where either is not measured. */
export function ratio(
  results: Results,
  what: Pick<Measurement, 'size' | 'load'>,
  baseline: ProgramName,
  figure: 'perSecond' | 'cpu',
): number | undefined {
  const service = find(results, { ...what, program: 'service' });
  const other = find(results, { ...what, program: baseline });
  return service && other && summaryOf(service)[figure] / summaryOf(other)[figure];
}

/**
 * How many times longer (p50) the same load takes at the one size than at the other; undefined where either is not
 * measured.
 */
export function growth(
  results: Results,
  load: LoadName,
  program: ProgramName,
  [small, large]: readonly [number, number],
): number | undefined {
  const before = find(results, { size: small, load, program });
  const after = find(results, { size: large, load, program });
  return before && after && summaryOf(after).p50 / summaryOf(before).p50;
}

/**
 * What went wrong, in words; empty where nothing did. Only of a baseline it is accepted that a request takes too
 * long.
 */
export function faultsOf({ rounds, program }: Measurement): string[] {
  const faults = rounds.flatMap(({ failures, unfinished }) => [
    ...Object.entries(failures),
    ...(program === 'service' && unfinished > 0 ? [['unfinished', unfinished] as const] : []),
  ]);
  const counts = new Map<string, number>();
  for (const [fault, count] of faults) counts.set(fault, (counts.get(fault) ?? 0) + count);
  return [...counts].map(([fault, count]) => `${count} × ${fault}`);
}

/** The space of the other tables, in percent of the logs with their indexes. */
export function percentBeside({ logs, others }: Space): number {
  return (Object.values(others).reduce((sum, bytes) => sum + bytes, 0) / logs) * 100;
}
