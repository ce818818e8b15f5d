import type { Load, LoadName } from './loads.js';
import { type Baseline, BASELINES, type ProgramName } from './program.js';
import { medianOf, type Round } from './round.js';
import { sizeName } from './data-set.js';

/** The rounds of one load on one program at one size. */
export interface Measurement {
  readonly size: number;
  readonly name: LoadName;
  readonly load: Load;
  readonly program: ProgramName;
  readonly rounds: readonly Round[];
}

const HEADER = [
  ...['logs', 'load', 'program', 'requests/s', 'logs/s', 'p50 ms', 'p99 ms', 'CPU µs', 'PostgreSQL CPU µs'],
  ...[
    'peak MB',
    'more MB',
    ...BASELINES.map((baseline) => `× ${baseline}`),
    'CPU × older',
    'growth',
    'faults',
  ],
];

/** All that a run has found, as a table of Markdown. Targets stand beside what was measured. */
export function tableOf(all: readonly Measurement[]): string {
  const rows = [HEADER, HEADER.map(() => '---'), ...all.map((measurement) => rowOf(measurement, all))];
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function rowOf(measurement: Measurement, all: readonly Measurement[]): string[] {
  const { size, name, load, program, rounds } = measurement;
  const median = (figure: Parameters<typeof medianOf>[1]) => medianOf(rounds, figure);
  const find = (other: ProgramName) =>
    all.find((one) => one.size === size && one.name === name && one.program === other)?.rounds;
  const target = load.target?.size === size ? load.target : undefined;
  const isOurs = program === 'service';
  const over = (baseline: Baseline) => {
    const other = isOurs && find(baseline);
    if (!other) return '';
    const least = target?.least[baseline];
    const ratio = figure(median('perSecond') / medianOf(other, 'perSecond'));
    return least === undefined ? ratio : `${ratio} (≥ ${least})`;
  };
  const older = isOurs && find('older');
  const cpu = older && figure(median('cpu') / medianOf(older, 'cpu'));
  const first = all.find((one) => one.name === name && one.program === program)!;
  // A request that nobody waited for any longer would have taken longer than it is counted with.
  const isCut = rounds.some(({ unfinished }) => unfinished > 0);
  return [
    sizeName(size),
    name,
    program,
    `${isCut ? '≤ ' : ''}${figure(median('perSecond'))}`,
    load.logs === undefined ? '' : figure(median('perSecond') * load.logs),
    ...(['p50', 'p99'] as const).map((time) => `${isCut ? '≥ ' : ''}${figure(median(time))}`),
    ...[median('cpu'), median('databaseCpu'), median('peak') / 1e6, median('more') / 1e6].map(figure),
    ...BASELINES.map(over),
    cpu ? `${cpu}${target?.cpu === undefined ? '' : ` (≤ ${target.cpu})`}` : '',
    first === measurement ? '' : figure(median('p50') / medianOf(first.rounds, 'p50')),
    faultsOf(measurement).join(', '),
  ];
}

/** Returns the faults of a measurement, in words. Only a baseline may have requests that take too long. */
export function faultsOf({ rounds, program }: Measurement): string[] {
  return rounds.flatMap(({ failures, unfinished }) => [
    ...Object.entries(failures).map(([fault, count]) => `${count} × ${fault}`),
    ...(program === 'service' && unfinished > 0 ? [`${unfinished} unfinished`] : []),
  ]);
}

/** Three digits are all that such a measurement can claim. */
function figure(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
