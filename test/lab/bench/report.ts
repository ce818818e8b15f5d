import { sizeName } from './data-set.js';
import { LOAD_NAMES } from './loads.js';
import { PROGRAM_NAMES, type ProgramName } from './program.js';
import {
  faultsOf,
  growth,
  type Measurement,
  percentBeside,
  ratio,
  type Results,
  summaryOf,
} from './results.js';
import { median } from './statistics.js';
import { type Found, type Target, TARGETS } from './targets.js';

const BASELINES = PROGRAM_NAMES.filter((name) => name !== 'service');

/** All that a run has found, for people: Markdown. */
export function report(results: Results): string {
  return [facts(results), comparison(results), growths(results), spaces(results), targets(results)]
    .filter((part) => part !== '')
    .join('\n\n');
}

function facts({ date, machine, seconds, starts }: Results): string {
  const { cores, memory, node, postgres } = machine;
  const on = `${cores} cores, ${Math.round(memory / 2 ** 30)} GB, Node ${node}, PostgreSQL ${postgres}`;
  const start = `the service starts in ${figure(median(starts))} ms.`;
  return `${date}, ${on}; rounds of ${seconds} s; ${start}`;
}

function comparison(results: Results): string {
  const figures = 'logs|load|program|requests/s|p50 ms|p99 ms|CPU µs|PostgreSQL CPU µs|peak MB';
  const header = [...figures.split('|'), ...BASELINES.map((baseline) => `× ${baseline}`), 'faults'];
  const rows = results.measurements.map((measurement) => rowOf(results, measurement));
  return table(header, rows);
}

function rowOf(results: Results, measurement: Measurement): string[] {
  const { size, load, program, rounds } = measurement;
  const { perSecond, p50, p99, cpu, databaseCpu, memory } = summaryOf(measurement);
  const times = (baseline: ProgramName) =>
    program === 'service' ? figure(ratio(results, { size, load }, baseline, 'perSecond')) : '';
  // A request that nobody waited for any longer would have taken longer than it is counted with.
  const isCut = rounds.some(({ unfinished }) => unfinished > 0);
  return [
    sizeName(size),
    load,
    program,
    `${isCut ? '≤ ' : ''}${figure(perSecond)}`,
    ...[p50, p99].map((milliseconds) => `${isCut ? '≥ ' : ''}${figure(milliseconds)}`),
    ...[cpu, databaseCpu, memory / 1e6].map(figure),
    ...BASELINES.map(times),
    faultsOf(measurement).join(', '),
  ];
}

function growths(results: Results): string {
  const sizes = results.measurements.map(({ size }) => size);
  const [small, large] = [Math.min(...sizes), Math.max(...sizes)];
  if (small >= large) return '';
  const rows = LOAD_NAMES.map((load) => [
    load,
    ...PROGRAM_NAMES.map((program) => figure(growth(results, { load, program }, [small, large]))),
  ]);
  const header = [`p50 at ${sizeName(large)} over p50 at ${sizeName(small)}`, ...PROGRAM_NAMES];
  const measured = rows.filter((row) => row.slice(1).some((cell) => cell !== NOT_MEASURED));
  return table(header, measured);
}

function spaces(results: Results): string {
  const rows = results.spaces.map((space) => [
    sizeName(space.size),
    figure(space.logs / 1e6),
    Object.entries(space.others)
      .map(([name, bytes]) => `${name} ${figure(bytes / 1e6)}`)
      .join(', ') || 'none',
    figure(percentBeside(space)),
  ]);
  return table(['logs', 'logs and indexes, MB', 'other tables, MB', 'others %'], rows);
}

function targets(results: Results): string {
  const rows = TARGETS.flatMap((target) => {
    const found = target.measure(results);
    return found === undefined || Number.isNaN(found.value) ? [] : [targetRow(target, found)];
  });
  return table(['target', 'bound', 'measured', ''], rows);
}

function targetRow({ name, bound, unit }: Target, { value, load }: Found): string[] {
  const isMet = 'least' in bound ? value >= bound.least : value <= bound.most;
  const text = 'least' in bound ? `≥ ${bound.least}` : `≤ ${bound.most}`;
  const measured = `${figure(value)} ${unit}${load === undefined ? '' : `, ${load}`}`;
  return [name, `${text} ${unit}`, measured, isMet ? 'met' : '**missed**'];
}

const NOT_MEASURED = 'n/a';

/** Three digits tell all that such a measurement knows. */
function figure(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return NOT_MEASURED;
  if (value === Infinity) return '∞';
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const widths = header.map((cell, column) =>
    Math.max(3, cell.length, ...rows.map((row) => row[column]!.length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`;
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
