import { parseArgs } from 'node:util';
import { type LoadName, LOAD_NAMES } from './loads.js';
import { PROGRAM_NAMES, type ProgramName } from './program.js';

export const USAGE = `Usage: npm run bench -- [OPTION]...

  --sizes LIST        logs in the database, such as 10k,1m (default), 10m, 30m
  --only LIST         loads by the beginning of their names: ${LOAD_NAMES.join(', ')}
  --programs LIST     of ${PROGRAM_NAMES.join(', ')} (all); service alone needs no database of the baselines
  --connections N     of a list (16); a create has 64
  --seconds N         of a round of one program (5)
  --rounds N          measured rounds of each program (3)
  --data DIR          folder for PostgreSQL, kept and used again; without it a temporary one
  --json FILE         write all raw results there`;

/** A command line that cannot be followed; its message says why. */
export class UsageError extends Error {}

export type Options = NonNullable<ReturnType<typeof parseOptions>>;

/** Returns the options of the command line; undefined if it asks for help. Throws UsageError. */
export function parseOptions(args: string[]) {
  const values = parse(args);
  if (values.help) return undefined;
  const sizes = [...new Set(values.sizes.split(',').map(parseSize))].sort((a, b) => a - b);
  return {
    /** Ascending. */
    sizes,
    loads: values.only === undefined ? LOAD_NAMES : loadsOf(values.only.split(',')),
    /** In the order of PROGRAM_NAMES. */
    programs: values.programs === undefined ? PROGRAM_NAMES : programsOf(values.programs.split(',')),
    connections: positive('connections', values.connections),
    seconds: positive('seconds', values.seconds),
    rounds: positive('rounds', values.rounds),
    data: values.data,
    json: values.json,
  };
}

const OPTIONS = {
  sizes: { type: 'string', default: '10k,1m' },
  only: { type: 'string' },
  programs: { type: 'string' },
  connections: { type: 'string', default: '16' },
  seconds: { type: 'string', default: '5' },
  rounds: { type: 'string', default: '3' },
  data: { type: 'string' },
  json: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'the options could not be read');
  }
}

function parseSize(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,9})([km]?)$/i.exec(text) ?? [];
  if (count === undefined)
    throw new UsageError('--sizes takes numbers such as 500, 10k or 1m, with commas between');
  return Number(count) * { '': 1, k: 1_000, m: 1_000_000 }[unit!.toLowerCase()]!;
}

/** A whole name means that load alone, even where others begin with it. */
function loadsOf(given: readonly string[]): LoadName[] {
  const wanted = given.flatMap((prefix) => {
    const found = LOAD_NAMES.filter((name) => name === prefix);
    if (found.length === 0) found.push(...LOAD_NAMES.filter((name) => name.startsWith(prefix)));
    if (found.length === 0) throw new UsageError(`--only: no load begins with ${JSON.stringify(prefix)}`);
    return found;
  });
  return LOAD_NAMES.filter((name) => wanted.includes(name));
}

function programsOf(given: readonly string[]): ProgramName[] {
  if (given.some((name) => !PROGRAM_NAMES.some((known) => known === name)))
    throw new UsageError(`--programs takes ${PROGRAM_NAMES.join(', ')}, with commas between`);
  return PROGRAM_NAMES.filter((name) => given.includes(name));
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (/^\d{1,4}$/.test(text) && value > 0) return value;
  throw new UsageError(`--${name} takes a whole number from 1 to 9999`);
}
