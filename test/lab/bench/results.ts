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

/** The results of one load on one program at one size. */
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

type Figure = 'perSecond' | 'p50' | 'cpu';

/** A figure of one measurement over that of another; undefined where the run has not made either. */
function quotient(
  { measurements }: Results,
  figure: Figure,
  ...[one, other]: readonly Pick<Measurement, 'size' | 'load' | 'program'>[]
): number | undefined {
  const [above, below] = [one!, other!].map((wanted) =>
    measurements.find(
      ({ size, load, program }) => size === wanted.size && load === wanted.load && program === wanted.program,
    ),
  );
  return above && below && summaryOf(above)[figure] / summaryOf(below)[figure];
}

/** A figure of the service over that of a baseline; undefined where either is not measured. */
export function ratio(
  results: Results,
  what: Pick<Measurement, 'size' | 'load'>,
  baseline: ProgramName,
  figure: 'perSecond' | 'cpu',
): number | undefined {
  return quotient(results, figure, { ...what, program: 'service' }, { ...what, program: baseline });
}

/** The ratio of the p50 of a load at two sizes; undefined if either is not measured. */
export function growth(
  results: Results,
  what: Pick<Measurement, 'load' | 'program'>,
  [small, large]: readonly [number, number],
): number | undefined {
  return quotient(results, 'p50', { ...what, size: large }, { ...what, size: small });
}

/** Returns the faults of a measurement, in words. Only a baseline may have requests that take too long. */
export function faultsOf({ rounds, program }: Measurement): string[] {
  const faults = rounds.flatMap(({ failures, unfinished }) => [
    ...Object.entries(failures),
    ...(program === 'service' && unfinished > 0 ? [['unfinished', unfinished] as const] : []),
  ]);
  return Object.entries(sumOf(faults)).map(([fault, count]) => `${count} × ${fault}`);
}

/** How often each failure was seen in all. */
export function sumOf(failures: readonly (readonly [string, number])[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [failure, count] of failures) sums[failure] = (sums[failure] ?? 0) + count;
  return sums;
}

/** The space of the other tables, in percent of the logs with their indexes. */
export function percentBeside({ logs, others }: Space): number {
  return (Object.values(others).reduce((sum, bytes) => sum + bytes, 0) / logs) * 100;
}

/** All of it as JSON, a measurement a line, with six digits of each number. */
export function textOf({ measurements, ...others }: Results): string {
  const json = (value: object) =>
    JSON.stringify(value, (_name, one: unknown) =>
      typeof one === 'number' ? Number(one.toPrecision(6)) : one,
    );
  const facts = JSON.stringify(others, undefined, 2).slice(2, -2);
  return `{\n${facts},\n  "measurements": [\n    ${measurements.map(json).join(',\n    ')}\n  ]\n}\n`;
}
