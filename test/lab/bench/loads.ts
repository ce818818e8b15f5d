import { createHash } from 'node:crypto';
import { rawRequest } from '../../support/raw-http.js';
import { type DataSet, PAGE, PERIOD, projectId, PROJECTS, SEEDED, YEARS } from './data-set.js';
import { FRESH_UUID } from './drive.js';

/** The requests of one measurement, which are repeated. */
export interface Load {
  readonly status: number;
  /** One client that waits for each answer; without it as many as the load of its kind has. */
  readonly isAlone?: true;
  /** The path of a request that all programs must answer alike. */
  readonly path?: string;
  /** Only the service has it. */
  readonly isOurs?: true;
  /** The projects of the caller; all if undefined. */
  readonly projects?: readonly string[];
  /** Whole HTTP requests, for a program with this token. */
  requests(token: string): string[];
}

const PATH = '/api/v1/time-logs';
/** As many different creates: no program can profit from seeing one again. */
const CREATES = 2_048;
const DAY = 86_400_000;
const YEAR = { from: '2020-01-01', to: '2020-12-31' };
/** The middle page of the 100 largest projects, which have 0.38 of the logs, as a share of all pages. */
const MIDDLE_OF_BOUND = 0.19;
const MONTH = { from: '2020-03-01', to: '2020-03-31' };
const LARGEST = { projectId: projectId(1) };

/** In the order in which they run: creates come last, because they change what is listed. */
const LOADS = {
  'list-project': () => list(LARGEST),
  'list-first': () => list({}),
  'list-last': ({ size }) => list({ page: String(pagesOf(size)) }),
  'list-middle': ({ size }) => list({ page: middleOf(pagesOf(size)) }),
  'list-period': () => list(PERIOD),
  'list-project-period-middle': ({ totalOfProjectInYears }) =>
    list({ ...LARGEST, ...YEARS, page: middleOf(pagesOf(totalOfProjectInYears)) }),
  'feed-first': () => feed(),
  'feed-middle': ({ events }) => feed({ lastEventId: events.middle }),
  'feed-last': ({ events }) => feed({ lastEventId: events.last }),
  'totals-all': () => totals({}),
  'totals-project-month': () => totals({ ...LARGEST, ...YEAR, by: 'month' }),
  'totals-project-day': () => totals({ ...LARGEST, ...MONTH, by: 'day' }),
  'totals-week': () => totals({ from: '2019-01-01', to: YEAR.to, by: 'week' }),
  'totals-by-project': () => totals({ ...MONTH, by: 'project' }),
  'bound-first-1': () => bound(1, list({})),
  'bound-first-10': () => bound(10, list({})),
  'bound-first-100': () => bound(100, list({})),
  'bound-middle-100': ({ size }) =>
    bound(100, list({ page: String(Math.ceil(MIDDLE_OF_BOUND * pagesOf(size))) })),
  'bound-month-100': () => bound(100, totals({ ...YEAR, by: 'month' })),
  'list-alone': () => ({ ...list(LARGEST), isAlone: true }),
  create: () => create(),
  // The baselines do not know the header: they do what they do without.
  'create-keyed': () => create([`Idempotency-Key: ${FRESH_UUID}`]),
  'create-alone': () => ({ ...create(), isAlone: true }),
} satisfies Record<string, (data: DataSet) => Load>;
export type LoadName = keyof typeof LOADS;
export const LOAD_NAMES = Object.keys(LOADS) as readonly LoadName[];

export function loadOf(name: LoadName, data: DataSet): Load {
  return LOADS[name](data);
}

const pagesOf = (logs: number) => Math.max(1, Math.ceil(logs / PAGE));
const middleOf = (pages: number) => String(Math.ceil(pages / 2));

export const list = (query: Record<string, string>) => get('', query);
export const totals = (query: Record<string, string>) => get('/totals', query);
/** A page of events after the one with an id. */
const feed = (after: Record<string, string> = {}): Load => ({ ...get('/events', after), isOurs: true });

function get(resource: string, query: Record<string, string>): Load {
  const text = new URLSearchParams(query).toString();
  const path = `${PATH}${resource}${text === '' ? '' : `?${text}`}`;
  return { status: 200, path, requests: (token) => [headOf(`GET ${path}`, token)] };
}

/** The same for a caller who is bound to so many projects: the largest one, and those after it. */
function bound(count: number, load: Load): Load {
  const projects = Array.from({ length: count }, (_, index) => projectId(1 + index));
  return { ...load, isOurs: true, projects };
}

export function create(headers: readonly string[] = [], attributesOf?: (index: number) => object): Load {
  const bodies = Array.from({ length: CREATES }, (_, index) => {
    const random = createHash('md5').update(`create ${index}`).digest();
    const text = random.toString('hex').repeat(3);
    return JSON.stringify({
      projectId: projectId(1 + (random.readUInt32BE(0) % PROJECTS)),
      duration: (1 + (random.readUInt16BE(4) % 2_400)) / 100,
      description: text.slice(0, 20 + (random[6]! % 61)),
      date: new Date(SEEDED.until - DAY * (1 + (random[7]! % 30))).toISOString().slice(0, 10),
      attributes: attributesOf?.(index),
    });
  });
  const request = (token: string, body: string) => {
    const about = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
    return headOf(`POST ${PATH}`, token, [...about, ...headers]) + body;
  };
  return { status: 201, requests: (token) => bodies.map((body) => request(token, body)) };
}

function headOf(what: string, token: string, headers: readonly string[] = []): string {
  const lines = [`${what} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${token}`, ...headers];
  return rawRequest(...lines);
}
