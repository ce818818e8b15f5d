import { isUtf8 } from 'node:buffer';
import { parse } from 'node:querystring';
import { parsed } from '../../support/raw-http.js';

/**
 * What the interface asks of a request, worked out by other means than the service's own, for tests to hold against
 * its answer.
 */
export type Verdict<Accepted> = Accepted | Refused;

export interface Refused {
  /** Of the whole message. */
  readonly message: RegExp;
}

/** A log as it must come back, but for `id` and `createdAt`. */
export interface KeptLog {
  readonly values: Readonly<Record<'projectId' | 'description' | 'date', string>> & {
    readonly duration: number;
  };
}

/** What a list, or totals, must be about. */
export interface AppliedQuery {
  readonly page: number;
  readonly limit: number;
  readonly filter: Readonly<Partial<Record<'projectId' | 'from' | 'to' | 'by', string>>>;
}

export const isRefused = (verdict: Verdict<object>): verdict is Refused => 'message' in verdict;

const MESSAGES = {
  projectId: 'projectId must be a UUID',
  projectIds: 'projectId must be a UUID, or at most 100 separated by commas',
  duration: 'duration must be a positive number',
  date: 'date must be an existing day in the form YYYY-MM-DD',
  from: 'from must be an existing day, as YYYY-MM-DD or YYYY-MM-DDThh:mm[:ss[.fraction]][Z|+hh:mm|-hh:mm] with hh from 00 to 23',
  to: 'to must be an existing day, as YYYY-MM-DD or YYYY-MM-DDThh:mm[:ss[.fraction]][Z|+hh:mm|-hh:mm] with hh from 00 to 23',
  by: 'by must be project, day, week or month, or project and a period, such as project,month',
  page: 'page must be a whole number from 1 to 2^53-1',
  limit: 'limit must be a whole number from 1 to 1000',
};
const BODY_FIELDS = ['projectId', 'duration', 'description', 'date'];
/** The parameters of each operation with a query, in the order of their messages. */
export const PARAMETERS = {
  list: ['projectId', 'from', 'to', 'page', 'limit'],
  totals: ['projectId', 'from', 'to', 'by', 'page', 'limit'],
} as const;
const GROUPINGS = ['project', 'day', 'week', 'month', 'project,day', 'project,week', 'project,month'];

/** Whether a log of these bytes is made, and which. */
export function verdictOnBody(body: Buffer): Verdict<KeptLog> {
  if (!isUtf8(body)) return refused('the request body must be valid UTF-8');
  const value = parsed(body.toString());
  if (value === undefined) return refused('the request body must be valid JSON');
  if (Object.prototype.toString.call(value) !== '[object Object]')
    return refused('the request body must be a JSON object');
  if (depthOf(value) > 8) return refused('the request body must not be nested deeper than 8 levels');

  const members = new Map(Object.entries(value as object) as [string, unknown][]);
  const [projectId, duration, date] = ['projectId', 'duration', 'date'].map((name) => members.get(name));
  const description = members.has('description') ? members.get('description') : '';
  const faults = [
    isUuid(projectId) ? '' : MESSAGES.projectId,
    typeof duration === 'number' && duration > 0 && duration < Infinity ? '' : MESSAGES.duration,
    descriptionFault(description),
    isDay(date) ? '' : MESSAGES.date,
  ].filter((fault) => fault !== '');
  const unknown = [...members.keys()].filter((name) => !BODY_FIELDS.includes(name));
  if (faults.length + unknown.length > 0) return refused(...faults, ...named('unknown field', unknown));
  return {
    values: {
      projectId: (projectId as string).toLowerCase(),
      duration: duration as number,
      description: description as string,
      date: date as string,
    },
  };
}

/** Whether this raw query is answered, and which list or totals are asked for. */
export function verdictOnQuery(query: string, operation: keyof typeof PARAMETERS): Verdict<AppliedQuery> {
  const parameters = PARAMETERS[operation];
  const given = new Map(Object.entries(parse(query, undefined, undefined, { maxKeys: 0 })));
  const text = (name: string) => [given.get(name)].flat().at(-1);
  const [projectId, from, to, by] = ['projectId', 'from', 'to', 'by'].map(text);
  const days = { from: dayOf(from), to: dayOf(to) };
  const isWrong: Record<(typeof PARAMETERS)['totals'][number], boolean> = {
    projectId: projectId !== undefined && !areUuids(projectId),
    from: from !== undefined && days.from === undefined,
    to: to !== undefined && days.to === undefined,
    by: by !== undefined && !GROUPINGS.includes(by),
    page: !isWhole(text('page') ?? '1', 2n ** 53n - 1n),
    limit: !isWhole(text('limit') ?? '50', 1_000n),
  };
  const isRepeated = (name: string) => Array.isArray(given.get(name));
  const isReversed = days.from !== undefined && days.to !== undefined && days.from > days.to;
  const faults = parameters.flatMap((name) => {
    if (isRepeated(name)) return [`${name} must not be repeated`];
    if (isWrong[name]) return [MESSAGES[name === 'projectId' ? 'projectIds' : name]];
    return name === 'from' && isReversed ? ['from must not be after to'] : [];
  });
  const unknown = [...given.keys()].filter((name) => !parameters.some((known) => known === name));
  if (faults.length + unknown.length > 0)
    return refused(...faults, ...named('unknown parameter', unknown, ` (known: ${parameters.join(', ')})`));
  return {
    page: Number(text('page') ?? 1),
    limit: Number(text('limit') ?? 50),
    filter: {
      ...(projectId !== undefined && { projectId: [...new Set(projectId.toLowerCase().split(','))].join() }),
      ...(days.from !== undefined && { from: days.from }),
      ...(days.to !== undefined && { to: days.to }),
      ...(by !== undefined && { by }),
    },
  };
}

/** The pattern of a message of these parts, of which a `RegExp` stands for what the interface leaves open. */
function refused(...parts: (string | RegExp)[]): Refused {
  const sources = parts.map((part) =>
    typeof part === 'string' ? part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') : part.source,
  );
  return { message: new RegExp(`^${sources.join('; ')}$`) };
}

/**
 * At most 3 names in printable ASCII, each cut at 40 characters, with a text after the last one. Any replacement of
 * other characters is accepted.
 */
function named(what: string, names: readonly string[], end = ''): (string | RegExp)[] {
  return names.slice(0, 3).map((name, index, { length }) => {
    const after = index === length - 1 ? end : '';
    if (/^[\x20-\x7e]*$/.test(name)) return `${what}: ${name.slice(0, 40)}${after}`;
    return new RegExp(`${what}: [\\x20-\\x7e]{0,40}${after.replace(/[()]/g, '\\$&')}`);
  });
}

/** Levels of lists and objects, level by level, so that no depth is too deep for the stack. */
function depthOf(value: unknown): number {
  let level = [value];
  for (let depth = 0; ; depth++) {
    level = level.filter((item) => typeof item === 'object' && item !== null);
    if (level.length === 0) return depth;
    level = level.flatMap((item) => Object.values(item as object) as unknown[]);
  }
}

function areUuids(text: string): boolean {
  const members = text.split(',');
  return members.length <= 100 && members.every(isUuid);
}

function isUuid(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const groups = value.split('-');
  return groups.map(({ length }) => length).join() === '8,4,4,4,12' && /^[0-9A-Fa-f]*$/.test(groups.join(''));
}

function descriptionFault(value: unknown): string {
  if (typeof value !== 'string') return 'description must be a string';
  const points = Array.from(value, (character) => character.codePointAt(0)!);
  if (points.length > 5_000) return 'description must be at most 5000 characters';
  if (points.includes(0)) return 'description must not contain U+0000';
  const isLone = (point: number) => point >= 0xd800 && point <= 0xdfff;
  return points.some(isLone) ? 'description must not contain lone surrogates' : '';
}

/** Whether a text is the very form in which the calendar itself writes the day that it names. */
function isDay(value: unknown): boolean {
  if (typeof value !== 'string' || value.length !== 10 || value.startsWith('0000')) return false;
  const instant = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(instant) && new Date(instant).toISOString().slice(0, 10) === value;
}

/** The day that a day or a timestamp names. */
function dayOf(text: string | undefined): string | undefined {
  const day = text?.slice(0, 10);
  if (text === undefined || !isDay(day)) return undefined;
  if (text.length === 10) return day;
  const [, seconds, fraction, zone] =
    /^[Tt ](?:[01]\d|2[0-3]):[0-5]\d(:(?:[0-5]\d|60))?(\.\d+)?(.*)$/s.exec(text.slice(10)) ?? [];
  if (zone === undefined || (fraction !== undefined && seconds === undefined)) return undefined;
  return zone === '' || /^([Zz]|[-+ ]([01]\d|2[0-3]):[0-5]\d)$/.test(zone) ? day : undefined;
}

function isWhole(text: string, most: bigint): boolean {
  if (text === '' || Array.from(text).some((character) => !'0123456789'.includes(character))) return false;
  return BigInt(text) >= 1n && BigInt(text) <= most;
}
