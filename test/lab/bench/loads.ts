import { createHash, randomUUID } from 'node:crypto';
import { type DataSet, PAGE, PERIOD, projectId, PROJECTS, SEEDED, YEARS } from './data-set.js';
import { FRESH_UUID } from './drive.js';

/** In the order in which they run: creates come last, because they change what is listed. */
export const LOAD_NAMES = [
  'list-project',
  'list-first',
  'list-last',
  'list-middle',
  'list-period',
  'list-project-period-middle',
  'feed-first',
  'feed-middle',
  'feed-last',
  'totals-all',
  'totals-project-month',
  'totals-project-day',
  'totals-week',
  'totals-by-project',
  'bound-first-1',
  'bound-first-10',
  'bound-first-100',
  'bound-middle-100',
  'bound-month-100',
  'list-alone',
  'create',
  'create-keyed',
  'create-alone',
] as const;
export type LoadName = (typeof LOAD_NAMES)[number];

/** What is sent again and again in one measurement. */
export interface Load {
  readonly status: number;
  /** One client that waits for each answer; without it as many as the load of its kind has. */
  readonly isAlone?: true;
  /** Where the programs must answer alike: the path of the one request that is sent. */
  readonly path?: string;
  /** Only the service has it. */
  readonly isOurs?: true;
  /** What the caller is bound to; all projects without it. */
  readonly projects?: readonly string[];
  /** Whole HTTP requests, for a program with this token. */
  requests(token: string): string[];
}

const PATH = '/api/v1/time-logs';
/** As many different creates: no program can profit from seeing one again. */
const CREATES = 2_048;
const DAY = 86_400_000;
const YEAR = { from: '2020-01-01', to: '2020-12-31' };
/** Of the pages of all logs: the 100 largest projects have 0.38 of the logs. */
const MIDDLE_OF_BOUND = 0.19;
const MONTH = { from: '2020-03-01', to: '2020-03-31' };

export function loadOf(name: LoadName, data: DataSet): Load {
  switch (name) {
    case 'create':
      return create(data);
    case 'create-alone':
      return { ...create(data), isAlone: true };
    case 'list-alone':
      return { ...list(queryOf('list-project', data)), isAlone: true };
    case 'create-keyed':
      // The baselines do not know the header: they do what they do without.
      return create(data, [`Idempotency-Key: ${FRESH_UUID}`]);
    case 'feed-first':
      return feed();
    case 'feed-middle':
      return feed(data.events.middle);
    case 'feed-last':
      return feed(data.events.last);
    case 'totals-all':
      return totals({});
    case 'totals-project-month':
      return totals({ projectId: projectId(1), ...YEAR, by: 'month' });
    case 'totals-project-day':
      return totals({ projectId: projectId(1), ...MONTH, by: 'day' });
    case 'totals-week':
      return totals({ from: '2019-01-01', to: YEAR.to, by: 'week' });
    case 'totals-by-project':
      return totals({ ...MONTH, by: 'project' });
    case 'bound-first-1':
      return bound(1, list({}));
    case 'bound-first-10':
      return bound(10, list({}));
    case 'bound-first-100':
      return bound(100, list({}));
    case 'bound-middle-100':
      return bound(100, list({ page: String(Math.ceil(MIDDLE_OF_BOUND * pagesOf(data.size))) }));
    case 'bound-month-100':
      return bound(100, totals({ ...YEAR, by: 'month' }));
    default:
      return list(queryOf(name, data));
  }
}

function queryOf(
  name: Exclude<`list-${string}` & LoadName, 'list-alone'>,
  data: DataSet,
): Record<string, string> {
  const pages = pagesOf(data.size);
  const project = { projectId: projectId(1) };
  switch (name) {
    case 'list-project':
      return project;
    case 'list-first':
      return {};
    case 'list-last':
      return { page: String(pages) };
    case 'list-middle':
      return { page: middleOf(pages) };
    case 'list-period':
      return PERIOD;
    case 'list-project-period-middle':
      return { ...project, ...YEARS, page: middleOf(pagesOf(data.totalOfProjectInYears)) };
  }
}

const pagesOf = (logs: number) => Math.max(1, Math.ceil(logs / PAGE));
const middleOf = (pages: number) => String(Math.ceil(pages / 2));

function list(query: Record<string, string>): Load {
  const text = new URLSearchParams(query).toString();
  const path = text === '' ? PATH : `${PATH}?${text}`;
  return { status: 200, path, requests: (token) => [requestText('GET', path, token)] };
}

/** A page of events after the one with an id. */
function feed(lastEventId?: string): Load {
  const path = `${PATH}/events${lastEventId === undefined ? '' : `?lastEventId=${lastEventId}`}`;
  return { status: 200, path, isOurs: true, requests: (token) => [requestText('GET', path, token)] };
}

function totals(query: Record<string, string>): Load {
  const text = new URLSearchParams(query).toString();
  const path = `${PATH}/totals${text === '' ? '' : `?${text}`}`;
  return { status: 200, path, requests: (token) => [requestText('GET', path, token)] };
}

/** The same for a caller who is bound to so many projects: the largest one, and those after it. */
function bound(count: number, load: Load): Load {
  const projects = Array.from({ length: count }, (_, index) => projectId(1 + index));
  return { ...load, isOurs: true, projects };
}

function create({ spread }: DataSet, headers: readonly string[] = []): Load {
  const bodies = Array.from({ length: CREATES }, (_, index) => {
    const random = createHash('md5').update(`create ${index}`).digest();
    return JSON.stringify({
      projectId: spread === 'sparse' ? randomUUID() : projectId(1 + (random.readUInt32BE(0) % PROJECTS)),
      duration: (1 + (random.readUInt16BE(4) % 2_400)) / 100,
      description: random
        .toString('hex')
        .repeat(3)
        .slice(0, 20 + (random[6]! % 61)),
      date: new Date(SEEDED.until - DAY * (1 + (random[7]! % 30))).toISOString().slice(0, 10),
    });
  });
  return {
    status: 201,
    requests: (token) => bodies.map((body) => requestText('POST', PATH, token, { headers, body })),
  };
}

function requestText(
  method: string,
  path: string,
  token: string,
  sent?: { readonly headers: readonly string[]; readonly body: string },
): string {
  const head = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${token}`];
  if (sent !== undefined) {
    const length = Buffer.byteLength(sent.body);
    head.push('Content-Type: application/json', `Content-Length: ${length}`, ...sent.headers);
  }
  return `${head.join('\r\n')}\r\n\r\n${sent?.body ?? ''}`;
}
