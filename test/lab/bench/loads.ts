import { createHash } from 'node:crypto';
import { rawRequest } from '../../support/raw-http.js';
import { type DataSet, PAGE, PERIOD, projectId, PROJECTS, SEEDED, YEARS } from './data-set.js';
import type { Baseline, ProgramName } from './program.js';

/** The figures that a load must reach with so many logs. */
interface Target {
  readonly size: number;
  /** The throughput over a baseline, at least. */
  readonly least: Partial<Record<Baseline, number>>;
  /** The CPU of Node over that of version 0.3, at most. */
  readonly cpu?: number;
}

/** The requests of one measurement, which are repeated. */
export interface Load {
  readonly status: number;
  readonly connections: number;
  /** Logs that a request creates or reads, if they are many. */
  readonly logs?: number;
  /** The path of a request that all programs must answer alike. */
  readonly path?: string;
  /** Other programs that have it; all if undefined. */
  readonly rivals?: readonly ProgramName[];
  /** The projects of the caller; all if undefined. */
  readonly projects?: readonly string[];
  readonly target?: Target;
  /** Whole HTTP requests, for a program with this token. */
  requests(token: string): string[];
}

const PATH = '/api/v1/time-logs';
/** A placeholder in a request: each sending has a new UUID for it. */
export const FRESH_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
/** Connections of reads and of creates. */
const [READERS, WRITERS] = [16, 64];
/** As many different creates: no program can profit from seeing one again. */
const CREATES = 2_048;
/** Logs of a batch, and different batches. */
const BATCH = { logs: 1_000, requests: 8 };
const DAY = 86_400_000;
const YEAR = { from: '2020-01-01', to: '2020-12-31' };
const MONTH = { from: '2020-03-01', to: '2020-03-31' };
const LARGEST = { projectId: projectId(1) };

const [SMALL, MEDIUM] = [10_000, 1_000_000];
const MOST_LISTS: Target = { size: SMALL, least: { idiomatic: 2, bare: 1.2 } };
const MONTH_OF_PROJECTS: Target = { size: MEDIUM, least: { idiomatic: 1.6 } };
const FIRST_PAGE: Target = { size: SMALL, least: { idiomatic: 3.4, careful: 1.6, bare: 1.9 }, cpu: 0.8 };
const LIST_ALONE: Target = { size: SMALL, least: { idiomatic: 2.4, careful: 1, bare: 1.25 } };
const CREATE: Target = { size: SMALL, least: { idiomatic: 6.5, careful: 1.8, bare: 3.3 }, cpu: 0.6 };
const KEYED: Target = { size: SMALL, least: { idiomatic: 5.5, bare: 3 }, cpu: 0.65 };
const CREATE_ALONE: Target = { size: SMALL, least: { idiomatic: 1.4, careful: 0.75, bare: 0.9 } };

/** In the order in which they run: creates come last, because they change what is listed. */
const LOADS = {
  'list-project': () => ({ ...list(LARGEST), target: FIRST_PAGE }),
  'list-first': () => ({ ...list({}), target: MOST_LISTS }),
  'list-last': ({ size }) => ({ ...list({ page: String(pagesOf(size)) }), target: MOST_LISTS }),
  'list-middle': ({ size }) => ({ ...list({ page: middleOf(pagesOf(size)) }), target: MOST_LISTS }),
  'list-period': () => ({ ...list(PERIOD), target: MOST_LISTS }),
  'list-project-period-middle': ({ totalOfProjectInYears: total }) => ({
    ...list({ ...LARGEST, ...YEARS, page: middleOf(pagesOf(total)) }),
    target: MOST_LISTS,
  }),
  'feed-first': () => feed(),
  'feed-middle': ({ events }) => feed({ lastEventId: events.middle }),
  'feed-last': ({ events }) => feed({ lastEventId: events.last }),
  'totals-all': () => totals({}),
  'totals-project-month': () => totals({ ...LARGEST, ...YEAR, by: 'month' }),
  'totals-project-day': () => totals({ ...LARGEST, ...MONTH, by: 'day' }),
  'totals-week': () => totals({ from: '2019-01-01', to: YEAR.to, by: 'week' }),
  'totals-by-project': () => ({
    ...totals({ ...MONTH, by: 'project' }),
    rivals: ['idiomatic'],
    target: MONTH_OF_PROJECTS,
  }),
  'bound-first-10': () => bound(10, list({})),
  'bound-first-100': () => bound(100, list({})),
  'bound-month-100': () => bound(100, totals({ ...YEAR, by: 'month' })),
  'list-alone': () => ({ ...list(LARGEST), connections: 1, target: LIST_ALONE }),
  export: ({ size }) => ({ ...exported(), logs: size }),
  create: () => ({ ...create(), target: CREATE }),
  // The baselines do not know the header: they do what they do without.
  'create-keyed': () => ({ ...create([`Idempotency-Key: ${FRESH_UUID}`]), target: KEYED }),
  'create-alone': () => ({ ...create(), connections: 1, target: CREATE_ALONE }),
  batch: () => batch(),
} satisfies Record<string, (data: DataSet) => Load>;
export type LoadName = keyof typeof LOADS;
export const LOAD_NAMES = Object.keys(LOADS) as readonly LoadName[];

export function loadOf(name: LoadName, data: DataSet): Load {
  return LOADS[name](data);
}

const pagesOf = (logs: number) => Math.max(1, Math.ceil(logs / PAGE));
const middleOf = (pages: number) => String(Math.ceil(pages / 2));

const list = (query: Record<string, string>) => get('', query);
const totals = (query: Record<string, string>): Load => ({ ...get('/totals', query), rivals: [] });
/** A page of events after the one with an id. */
const feed = (after: Record<string, string> = {}): Load => ({ ...get('/events', after), rivals: [] });
const exported = (): Load => ({ ...get('/export', { format: 'csv' }), connections: 1, rivals: [] });

function get(resource: string, query: Record<string, string>): Load {
  const text = new URLSearchParams(query).toString();
  const path = `${PATH}${resource}${text === '' ? '' : `?${text}`}`;
  const requests = (token: string) => [headOf(`GET ${path}`, token)];
  return { status: 200, connections: READERS, path, requests };
}

/** The same for a caller who is bound to so many projects: the largest one, and those after it. */
function bound(count: number, load: Load): Load {
  const projects = Array.from({ length: count }, (_, index) => projectId(1 + index));
  return { ...load, rivals: [], projects };
}

/** Creates with further headers, and attributes if they are given. */
export function create(headers: readonly string[] = [], attributes?: (index: number) => object): Load {
  const bodies = Array.from({ length: CREATES }, (_, index) => logOf(index, attributes?.(index)));
  return {
    status: 201,
    connections: WRITERS,
    requests: (token) => bodies.map((body) => post('', token, body, headers)),
  };
}

function batch(): Load {
  const bodies = Array.from({ length: BATCH.requests }, (_, request) => ({
    timeLogs: Array.from({ length: BATCH.logs }, (_, index) => logOf(request * BATCH.logs + index)),
  }));
  const requests = (token: string) => bodies.map((body) => post('/batch', token, body));
  return { status: 201, connections: 2, logs: BATCH.logs, rivals: [], requests };
}

/** A log of any project on a day of the last month. */
function logOf(index: number, attributes?: object): object {
  const random = createHash('md5').update(`create ${index}`).digest();
  return {
    projectId: projectId(1 + (random.readUInt32BE(0) % PROJECTS)),
    duration: (1 + (random.readUInt16BE(4) % 2_400)) / 100,
    description: random
      .toString('hex')
      .repeat(3)
      .slice(0, 20 + (random[6]! % 61)),
    date: new Date(SEEDED.until - DAY * (1 + (random[7]! % 30))).toISOString().slice(0, 10),
    attributes,
  };
}

function post(resource: string, token: string, body: object, headers: readonly string[] = []): string {
  const text = JSON.stringify(body);
  const about = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`];
  return headOf(`POST ${PATH}${resource}`, token, [...about, ...headers]) + text;
}

function headOf(what: string, token: string, headers: readonly string[] = []): string {
  const lines = [`${what} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${token}`, ...headers];
  return rawRequest(...lines);
}
