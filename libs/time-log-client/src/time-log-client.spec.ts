import { describe, expect, it } from '@jest/globals';
import { failure, FakeClock, ITEM, NEW_LOG as LOG, RECORDED } from '../../../test/support/client.js';
import { type NewTimeLog, TimeLogClient, type TimeLogClientOptions } from './index.js';
import type { Fetch, Runtime } from './run-with-timeout.js';

const BASE_URL = 'https://time-logs.example';
const PATCH = { duration: 2, description: null };
const PAGE = { data: [ITEM], meta: { total: 1, page: 1, limit: 50 } };
const NOW = Date.parse('2026-01-31T09:30:00Z');
const MAY_BE_RECORDED =
  '; the log may have been recorded: record it again with the idempotencyKey of this error';
const MAY_BE_DELETED = '; the log may have been deleted: delete it again';

/** The reaction of the fake service to a request: a response, none, or a lost connection. */
type Reaction = () => Response | 'nothing' | Error;

const answered =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reaction =>
  () =>
    new Response(typeof body === 'string' ? body : JSON.stringify(body), {
      status,
      // Only the feed answers with an array.
      headers: { ...(Array.isArray(body) && { link: '<?limit=100>; rel="next"' }), ...headers },
    });
const refused = (status: number, error: string, headers = {}) =>
  answered(status, { success: false, error, message: `says ${error}` }, headers);
const recorded = answered(201, { success: true, data: RECORDED });
const recordedAll = answered(201, { success: true, data: [RECORDED] });
const linesOf = (...logs: object[]) => logs.map((log) => `${JSON.stringify(log)}\n`).join('');
const exported = (text: string | ReadableStream, headers = {}): Reaction => {
  const type = { 'content-type': 'application/x-ndjson' };
  return () => new Response(text, { headers: { ...type, ...headers } });
};
const found = answered(200, { success: true, data: RECORDED });
const listed = answered(200, { success: true, ...PAGE });
const unavailable = refused(503, 'SERVICE_UNAVAILABLE');
const limited = refused(429, 'RATE_LIMITED');
const missing = refused(404, 'NOT_FOUND');
const lost: Reaction = () => new TypeError('fetch failed');
const deleted: Reaction = () => new Response(null, { status: 204 });
const silent: Reaction = () => 'nothing';
const truncated: Reaction = () =>
  new Response(new ReadableStream({ pull: (stream) => stream.error(new Error('truncated')) }));
/** The reactions after which a request is repeated. */
const TRANSIENT = [
  ...[lost, unavailable, limited, truncated, refused(408, 'REQUEST_TIMEOUT')],
  ...[answered(502, ''), answered(504, '')],
];

/** A runtime with a fake service. */
class FakeRuntime extends FakeClock implements Runtime {
  readonly requests: { url: string; init: RequestInit; at: number }[] = [];

  constructor(private readonly answers: Reaction[]) {
    super(NOW);
  }

  readonly fetch: Fetch = async (url, init) => {
    this.requests.push({ url, init, at: this.now() - NOW });
    const answer = (this.answers.length > 1 ? this.answers.shift()! : this.answers[0]!)();
    if (answer instanceof Error) throw answer;
    if (answer instanceof Response) return answer;
    return new Promise((_resolve, reject) => {
      init.signal!.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
    });
  };

  /** The milliseconds from the start of the test to each request. */
  get times(): number[] {
    return this.requests.map(({ at }) => at);
  }

  /** The method and path of each request. */
  get requestLines(): string[] {
    return this.requests.map(({ url, init }) => `${init.method} ${url.replace(BASE_URL, '')}`);
  }

  header(name: string): (string | null)[] {
    return this.requests.map(({ init }) => new Headers(init.headers).get(name));
  }
}

function clientOf(answers: Reaction[], options: Partial<TimeLogClientOptions> = {}) {
  const runtime = new FakeRuntime([...answers]);
  return { runtime, client: new TimeLogClient({ baseUrl: BASE_URL, token: 'secret', ...options }, runtime) };
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

type Act = (client: TimeLogClient) => Promise<unknown>;
const record: Act = (client) => client.record(LOG);
const recordAll: Act = (client) => client.recordAll([LOG]);
const patch: Act = (client) => client.patch(ITEM.id, PATCH);
const exportAll: Act = async (client) => allOf(await client.export());
const correct: Act = (client) => client.correct(ITEM.id, LOG);
const get: Act = (client) => client.get(ITEM.id);
const remove: Act = (client) => client.delete(ITEM.id);
const listPage: Act = (client) => client.listPage();
const totals: Act = (client) => client.totals();
const nextEvent: Act = (client) => client.events().next();
const health: Act = (client) => client.health();

const TIME_LOGS = '/api/v1/time-logs';
const ONE_LOG = `${TIME_LOGS}/${ITEM.id}`;
const TOTALS = {
  data: [{ projectId: LOG.projectId, count: 2, duration: 3 }],
  meta: { count: 2, duration: 3, total: 1, page: 1, limit: 50 },
};
const EVENT = { id: `1-${ITEM.id}`, type: 'time-log.created', source: TIME_LOGS, data: RECORDED };
const PAGE_FILTER = { from: '2026-01-01T00:00+05:30', to: undefined, page: 2, limit: 10 };
const ATTRIBUTES = { userId: 'ada&co', level: 1.5, billable: false };
const ATTRIBUTES_QUERY = 'attributes.userId=ada%26co&attributes.level=1.5&attributes.billable=false';
const GROUP_FILTER = { projectId: LOG.projectId, from: undefined, by: 'project' } as const;
const summed = answered(200, { success: true, ...TOTALS });
const oneEvent = answered(200, [EVENT]);

/** Calls with their request, the response, and their result. */
const CALLS: [request: string, Act, Reaction, result: unknown][] = [
  [`POST ${TIME_LOGS}`, record, recorded, RECORDED],
  [`POST ${TIME_LOGS}/batch`, recordAll, recordedAll, [RECORDED]],
  [`PUT ${ONE_LOG}`, correct, found, RECORDED],
  [`PATCH ${ONE_LOG}`, patch, found, RECORDED],
  [`GET ${ONE_LOG}`, get, found, RECORDED],
  [`DELETE ${ONE_LOG}`, remove, deleted, undefined],
  [`GET ${TIME_LOGS}`, listPage, listed, PAGE],
  [
    `GET ${TIME_LOGS}?from=2026-01-01T00%3A00%2B05%3A30&page=2&limit=10`,
    (client) => client.listPage(PAGE_FILTER),
    listed,
    PAGE,
  ],
  [`GET ${TIME_LOGS}?projectId=a%2Cb`, (client) => client.listPage({ projectId: ['a', 'b'] }), listed, PAGE],
  [`GET ${TIME_LOGS}/export?format=ndjson`, exportAll, exported(linesOf(RECORDED)), [RECORDED]],
  [
    `GET ${TIME_LOGS}/export?format=ndjson&${ATTRIBUTES_QUERY}`,
    async (client) => allOf(await client.export({ attributes: ATTRIBUTES })),
    exported(''),
    [],
  ],
  [`GET ${TIME_LOGS}/totals`, totals, summed, TOTALS],
  [
    `GET ${TIME_LOGS}/totals?projectId=${LOG.projectId}&by=project&${ATTRIBUTES_QUERY}`,
    (client) => client.totals({ ...GROUP_FILTER, attributes: ATTRIBUTES }),
    summed,
    TOTALS,
  ],
  [`GET ${TIME_LOGS}/events?limit=100`, nextEvent, oneEvent, { done: false, value: EVENT }],
];

/** The bodies of calls, and their other headers. */
const BODIES = new Map<Act, [body: object, headers: object]>([
  [record, [LOG, { 'idempotency-key': expect.stringMatching(/^[0-9a-f]{32}$/) }]],
  [recordAll, [{ timeLogs: [LOG] }, { 'idempotency-key': expect.stringMatching(/^[0-9a-f]{32}-0$/) }]],
  [correct, [LOG, {}]],
  [patch, [PATCH, { 'content-type': 'application/merge-patch+json' }]],
]);

describe('a call', () => {
  it.each(CALLS)('sends its request, and repeats it unchanged: %s', async (request, act, answer, result) => {
    const { client, runtime } = clientOf([...TRANSIENT, answer]);
    expect(await act(client)).toEqual(result);
    expect(runtime.requestLines).toEqual(Array(8).fill(request));
    const [{ init: first }] = runtime.requests as [(typeof runtime.requests)[0]];
    const [body, headers] = BODIES.get(act) ?? [];
    expect(Object.fromEntries(new Headers(first.headers))).toEqual({
      authorization: 'Bearer secret',
      'x-request-id': expect.stringMatching(/^[0-9a-f]{32}$/),
      ...(body && { 'content-type': 'application/json', ...headers }),
    });
    for (const { init } of runtime.requests) {
      expect(init).toEqual({ ...first, signal: expect.any(AbortSignal) });
      expect([init.redirect, init.credentials]).toEqual(['manual', 'omit']);
      expect(init.body).toBe(body && JSON.stringify(body));
    }
  });

  it.each(['/hours/time-logs', '/hours/time-logs/'])('uses another path: %s', async (path) => {
    const { client, runtime } = clientOf([missing], { baseUrl: `${BASE_URL}/in`, path });
    for (const [, act] of CALLS) await failure(act(client));
    await failure(health(client));
    const requests = CALLS.map(([request]) => request.replace(TIME_LOGS, '/in/hours/time-logs'));
    expect(runtime.requestLines).toEqual([...requests, 'GET /in/health']);
  });

  it.each(['', 'x', `${ITEM.id}/`, '../time-logs'])('refuses an id that is not a UUID: %j', async (id) => {
    const { client, runtime } = clientOf([recorded]);
    for (const call of [
      () => client.get(id),
      () => client.correct(id, LOG),
      () => client.patch(id, PATCH),
      () => client.delete(id),
    ])
      await expect(call()).rejects.toThrow(new TypeError('id must be a UUID'));
    expect(runtime.requests).toEqual([]);
  });
});

/** The response to each try of a call, and the code and message of the final error. */
type Rejection = [what: string, answers: Reaction[], error: string, tries?: number];

function itRejects(act: Act, rejections: Rejection[]) {
  it.each(rejections)('rejects after %s', async (...[, answers, expected, tries]) => {
    const { client, runtime } = clientOf(answers, tries === undefined ? {} : { tries });
    const error = await failure(act(client));
    expect(`${error.code}: ${error.message}`).toBe(expected);
    expect(error.isOutcomeUnknown).toBe(expected.includes('the log may have been'));
    expect(runtime.requests).toHaveLength(answers.length);
    const last = answers.at(-1)!();
    expect(error.status).toBe(last instanceof Response ? last.status : undefined);
    expect([error.requestId]).toEqual([...new Set(runtime.header('x-request-id'))]);
    expect([error.idempotencyKey ?? null]).toEqual([...new Set(runtime.header('idempotency-key'))]);
  });
}
/** Returns the error after a response that is not from the service, or belongs to another call. */
const unexpected = (status: number, type = 'text/plain;charset=UTF-8') =>
  `UNEXPECTED_ANSWER: the response (${status}, ${type}) is not from the service: check that baseUrl is its address, and what a proxy in front of it reports`;
const html = (status: number, body: string) => answered(status, body, { 'content-type': 'text/html' });
const REDIRECTED =
  'UNEXPECTED_ANSWER: the address redirects, which the client does not follow: set baseUrl to the target of the redirect';

describe('record', () => {
  it('rejects after one try when it is refused', async () => {
    const headers = { 'x-request-id': 'of-the-service' };
    const { client, runtime } = clientOf([refused(400, 'VALIDATION_ERROR', headers)]);
    expect(await failure(client.record(LOG, { idempotencyKey: 'mine' }))).toMatchObject({
      name: 'TimeLogError',
      code: 'VALIDATION_ERROR',
      message: 'says VALIDATION_ERROR',
      status: 400,
      requestId: 'of-the-service',
      retryAfter: undefined,
      isOutcomeUnknown: false,
      idempotencyKey: 'mine',
    });
    expect(runtime.requests).toHaveLength(1);
  });

  itRejects(record, [
    ['a fault', [refused(500, 'INTERNAL_ERROR')], `INTERNAL_ERROR: says INTERNAL_ERROR${MAY_BE_RECORDED}`],
    [
      'a refusal after a try that may have recorded the log',
      [lost, refused(401, 'UNAUTHORIZED')],
      `UNAUTHORIZED: says UNAUTHORIZED; gave up after 2 tries${MAY_BE_RECORDED}`,
    ],
    [
      'several 429, which record nothing',
      [limited, limited, limited],
      'RATE_LIMITED: says RATE_LIMITED; gave up after 3 tries',
      3,
    ],
    ['201 with a page of HTML', [html(201, '<html>')], unexpected(201, 'text/html') + MAY_BE_RECORDED],
  ]);
});

describe('recordAll', () => {
  const logsOf = (count: number, description = '') =>
    Array.from({ length: count }, (_, index) => ({ ...LOG, duration: index + 1, description }));
  /** A service that stores each part, and returns its logs. */
  const service = (answers: (Reaction | 'stored')[] = [], options: Partial<TimeLogClientOptions> = {}) => {
    const parts: [key: string, durations: number[]][] = [];
    const fetch: Fetch = async (_url, { body, headers }) => {
      const { timeLogs } = JSON.parse(body as string) as { timeLogs: NewTimeLog[] };
      const answer = answers.shift() ?? 'stored';
      const key = new Headers(headers).get('idempotency-key')!;
      parts.push([key, timeLogs.map(({ duration }) => duration)]);
      const data = timeLogs.map((log) => ({ ...RECORDED, ...log }));
      const response = answer === 'stored' ? answered(201, { success: true, data })() : answer();
      if (response instanceof Error) throw response;
      return response as Response;
    };
    return { parts, ...clientOf([], { fetch, ...options }) };
  };

  it('sends at most 1000 logs at once, each part with a key of its own, and returns all in order', async () => {
    const { client, parts } = service();
    const logs = logsOf(2_001);
    const all = await client.recordAll(logs, { idempotencyKey: 'mine' });
    expect(all.map(({ duration }) => duration)).toEqual(logs.map(({ duration }) => duration));
    expect(parts.map(([key, { length }]) => [key, length])).toEqual([
      ['mine-0', 1_000],
      ['mine-1000', 1_000],
      ['mine-2000', 1],
    ]);
  });

  it('sends less than 1 MiB at once, whatever the characters', async () => {
    const { client, runtime } = clientOf([refused(413, 'PAYLOAD_TOO_LARGE')]);
    await failure(client.recordAll(logsOf(1_000, '𝄞'.repeat(5_000))));
    const size = Buffer.byteLength(runtime.requests[0]!.init.body as string);
    expect(size).toBeGreaterThan(900_000);
    expect(size).toBeLessThan(2 ** 20);
  });

  it('refuses a key that all calls would share, or that is too long with the index of a log', async () => {
    const { client, parts } = service();
    const act = (idempotencyKey: string) => client.recordAll(logsOf(10), { idempotencyKey });
    await act('a'.repeat(252));
    await expect(act('a'.repeat(253))).rejects.toThrow('must have at most 252 characters for 10 logs');
    for (const key of ['', ' ', 'ключ', null as unknown as string])
      await expect(act(key)).rejects.toThrow('must be 1 to 255 printable ASCII characters');
    expect(parts).toHaveLength(1);
  });

  it('repeats a part with its key, and says how many logs are stored if it fails', async () => {
    const { client, parts } = service(['stored', lost, refused(400, 'VALIDATION_ERROR')]);
    const error = await failure(client.recordAll(logsOf(1_001), { idempotencyKey: 'mine' }));
    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', stored: 1_000, idempotencyKey: 'mine' });
    expect(error.isOutcomeUnknown).toBe(true);
    expect(error.message).toBe(
      'says VALIDATION_ERROR; gave up after 2 tries; the first 1000 logs are stored; logs may have been recorded: call recordAll again with all logs and the idempotencyKey of this error',
    );
    expect(parts.map(([key]) => key)).toEqual(['mine-0', 'mine-1000', 'mine-1000']);
  });
});

describe('a version', () => {
  const CHANGES = [
    ['correct', (client, options) => client.correct(ITEM.id, LOG, options)],
    ['patch', (client, options) => client.patch(ITEM.id, PATCH, options)],
    ['delete', (client, options) => client.delete(ITEM.id, options)],
  ] as [string, (client: TimeLogClient, options: { ifMatch: string | undefined }) => Promise<unknown>][];

  it.each(CHANGES)(
    'is required by %s, which is not repeated if it may have been made',
    async (_name, act) => {
      for (const uncertain of [lost, silent, unavailable]) {
        const { client, runtime } = clientOf([limited, uncertain, found]);
        const error = await failure(act(client, { ifMatch: '"1"' }));
        expect(runtime.header('if-match')).toEqual(['"1"', '"1"']);
        expect(error.isOutcomeUnknown).toBe(true);
        expect(error.message).toMatch(
          /; the log may have been changed: get it, since a repeat with ifMatch may be refused because of that$/,
        );
      }
    },
  );
});

describe('export', () => {
  const streamOf = (...parts: (string | Error)[]) => {
    const encoder = new TextEncoder();
    return new ReadableStream({
      pull: (stream) => {
        const part = parts.shift();
        if (part === undefined) stream.close();
        else if (part instanceof Error) stream.error(part);
        else stream.enqueue(encoder.encode(part));
      },
    });
  };

  const csv = (text: string, headers = {}) =>
    exported(text, { 'content-type': 'text/csv; charset=utf-8; header=present', ...headers });
  const QUOTED = 'id,description\n1,"a ""b""\n\nc"\n';

  it.each([
    ['without its header', '', {}, 'the connection ended before the header of the file'],
    ['that ends within a log', `${QUOTED}2`, {}, 'the connection ended within a log'],
    ['that ends within quotes', QUOTED.slice(0, -4), {}, 'the connection ended within a log'],
    [
      'with fewer logs than it has announced',
      QUOTED,
      { 'x-total-count': '2' },
      'the export has 1 of 2 logs: its connection was cut; export again',
    ],
  ])('rejects after the bytes of a CSV file %s', async (_what, text, headers, message) => {
    const parts: Uint8Array[] = [];
    const read = async () => {
      for await (const part of await clientOf([csv(text, headers)]).client.exportCsv()) parts.push(part);
    };
    expect(await failure(read())).toMatchObject({ code: 'NO_ANSWER', message });
    expect(Buffer.concat(parts).toString()).toBe(text);
  });

  it.each([undefined, null])('reads the text if fetch has the body %s, as in React Native', async (body) => {
    const client = (reaction: Reaction) => {
      const fetch = async () => Object.defineProperty(reaction() as Response, 'body', { value: body });
      return clientOf([], { fetch }).client;
    };
    const file = Buffer.concat(await allOf(await client(csv(QUOTED)).exportCsv()));
    expect(file.toString()).toBe(QUOTED);
    const copy = new Map();
    const part = exported(linesOf(RECORDED), { 'x-total-count': '2' });
    expect((await failure(client(part).copy(copy))).code).toBe('NO_ANSWER');
    expect([...copy.keys()]).toEqual([ITEM.id]);
  });

  it.each([
    ['is cut', streamOf(linesOf(RECORDED), new Error('reset')), 'NO_ANSWER: the connection failed'],
    [
      'ends within a log',
      streamOf(linesOf(RECORDED), '{"id'),
      'NO_ANSWER: the connection ended within a log',
    ],
    [
      'has fewer logs than announced',
      streamOf(linesOf(RECORDED)),
      'NO_ANSWER: the export has 1 of 2 logs: its connection was cut; export again',
    ],
    [
      'has another line',
      streamOf(linesOf(RECORDED), '{}\n'),
      'UNEXPECTED_ANSWER: a line of the export is not a log',
    ],
    [
      'stops',
      new ReadableStream({
        start: (stream) => stream.enqueue(new TextEncoder().encode(linesOf(RECORDED))),
      }),
      'NO_ANSWER: no response in time',
    ],
  ])('rejects after the complete logs if the response %s', async (_what, body, message) => {
    const { client, runtime } = clientOf([exported(body, { 'x-total-count': '2' })]);
    const logs = await client.export();
    expect((await logs.next()).value).toEqual(RECORDED);
    const error = await failure(logs.next());
    expect(`${error.code}: ${error.message}`).toBe(message);
    expect(runtime.requests).toHaveLength(1);
  });
});

describe('copy', () => {
  const PLACE = `7-${ITEM.id}`;
  const export1 = exported(linesOf(RECORDED), { 'last-event-id': PLACE });
  const gone = refused(410, 'GONE');
  const none = answered(200, []);
  const later = { ...RECORDED, id: '019c1363-4a3b-7245-b697-5dec9f548a59' };
  const created = { id: `8-${later.id}`, type: 'time-log.created', data: later };
  const removed = { id: `9-${ITEM.id}`, type: 'time-log.deleted', data: { id: ITEM.id } };

  it('awaits what stores it, and has it save each place when it is complete up to there', async () => {
    const { client } = clientOf([export1, answered(200, [created, removed]), none]);
    const steps: string[] = [];
    const step = async (name: string) => {
      await Promise.resolve();
      steps.push(name);
    };
    await client.copy({
      clear: () => step('clear'),
      set: (id) => step(`set ${id}`),
      delete: (id) => step(`delete ${id}`),
      save: (place) => step(`save ${place}`),
    });
    expect(steps).toEqual([
      'clear',
      `set ${ITEM.id}`,
      `save ${PLACE}`,
      `set ${later.id}`,
      `delete ${ITEM.id}`,
      `save ${removed.id}`,
    ]);
  });

  it('starts again at 410, at most three times, with longer and longer delays', async () => {
    const again = [gone, export1];
    const { client, runtime } = clientOf([...again, ...again, ...again, none]);
    const copy = new Map();
    expect(await client.copy(copy, { after: created.id })).toBe(PLACE);
    expect([...copy.keys()]).toEqual([ITEM.id]);
    expect(runtime.times).toEqual([0, 1_000, 1_000, 3_000, 3_000, 7_000, 7_000]);
  });

  it.each([
    ['at once', []],
    ['after an event of each page', [answered(200, [removed])]],
  ])('rejects at the fourth 410, also %s', async (_when, page) => {
    const once = [export1, ...page, gone];
    const { client } = clientOf([...once, ...once, ...once, ...once, export1, none]);
    expect((await failure(client.copy(new Map(), { pageSize: 1 }))).code).toBe('GONE');
  });
});

describe('delete', () => {
  it('resolves if the log is missing after a lost connection', async () => {
    const { client, runtime } = clientOf([lost, missing]);
    await expect(client.delete(ITEM.id)).resolves.toBeUndefined();
    expect(runtime.requests).toHaveLength(2);
  });

  itRejects(remove, [
    ['an unknown id', [missing], 'NOT_FOUND: says NOT_FOUND'],
    [
      'an unknown id after a try that was refused',
      [limited, missing],
      'NOT_FOUND: says NOT_FOUND; gave up after 2 tries',
    ],
    [
      'its last try',
      [unavailable, unavailable],
      `SERVICE_UNAVAILABLE: says SERVICE_UNAVAILABLE; gave up after 2 tries${MAY_BE_DELETED}`,
      2,
    ],
  ]);
});

describe('listPage', () => {
  itRejects(listPage, [
    ['lost connections', [lost, lost, lost], 'NO_ANSWER: the connection failed; gave up after 3 tries', 3],
    ['a page of HTML', [html(200, '<h1>Welcome</h1>')], unexpected(200, 'text/html')],
    ['a redirect in Node', [() => Response.redirect('https://elsewhere.example', 301)], REDIRECTED],
    ['a redirect in a browser', [() => Response.error()], REDIRECTED],
    ['a code of a host', [refused(409, 'CONFLICT')], 'CONFLICT: says CONFLICT'],
  ]);
});

describe('the delays between tries', () => {
  it('are random, up to a limit that doubles up to 5 s', async () => {
    const { client, runtime } = clientOf([unavailable], { tries: 8 });
    runtime.randomValue = 1;
    await failure(client.listPage());
    expect(runtime.times).toEqual([0, 250, 750, 1_750, 3_750, 7_750, 12_750, 17_750]);
    const lucky = clientOf([unavailable], { tries: 3 });
    await failure(lucky.client.listPage());
    expect(lucky.runtime.times).toEqual([0, 0, 0]);
  });

  it.each([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['none', { 'retry-after': '0' }, 0],
    ['a date', { 'retry-after': 'Sat, 31 Jan 2026 09:30:09 GMT' }, 9_000],
    ['a date in the past', { 'retry-after': 'Sat, 31 Jan 2026 09:29:00 GMT' }, 0],
    [
      'a date by a clock that is ahead',
      { 'retry-after': 'Sat, 31 Jan 2026 11:30:09 GMT', date: 'Sat, 31 Jan 2026 11:30:07 GMT' },
      2_000,
    ],
    ['nonsense', { 'retry-after': 'soon' }, 0],
  ])('include Retry-After: %s', async (_what, headers, delay) => {
    for (const randomValue of [0, 1]) {
      const { client, runtime } = clientOf([refused(503, 'SERVICE_UNAVAILABLE', headers), listed]);
      runtime.randomValue = randomValue;
      await client.listPage();
      expect(runtime.times).toEqual([0, delay + randomValue * 250]);
    }
  });
});

describe('the limits of a call', () => {
  it('are the timeout of a try and the deadline of all tries', async () => {
    const { client, runtime } = clientOf([silent], { timeout: 4_000, deadline: 10_000 });
    expect(await failure(client.record(LOG))).toMatchObject({
      code: 'NO_ANSWER',
      message: `no response in time; gave up after 3 tries${MAY_BE_RECORDED}`,
      isOutcomeUnknown: true,
    });
    expect(runtime.times).toEqual([0, 4_000, 8_000]);
    expect(runtime.now() - NOW).toBe(10_000);
  });
});

describe('the token', () => {
  it('is requested once per call, so that all tries have the same caller', async () => {
    let count = 0;
    const token = async () => `token-${++count}`;
    const { client, runtime } = clientOf([lost, recorded, listed], { token });
    await client.record(LOG);
    await client.listPage();
    expect(runtime.header('authorization')).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2']);
  });
});

describe('the options', () => {
  const hostsOf = ({ requests }: FakeRuntime) => requests.map(({ url }) => new URL(url).hostname[0]).join('');

  it('accept several addresses: the next one is used if a connection fails or times out', async () => {
    const baseUrl = ['https://a.example', 'https://b.example/', 'https://c.example'];
    const answers = [lost, unavailable, silent, recorded, listed, lost, listed];
    const { client, runtime } = clientOf(answers, { baseUrl });
    await client.record(LOG);
    await client.listPage();
    await client.listPage();
    // A server that responds with 503 is not left.
    expect(hostsOf(runtime)).toBe('abbccca');
    const keys = runtime.header('idempotency-key').slice(0, 4);
    expect([...new Set(keys)]).toEqual([expect.any(String)]);
  });
});

describe('events', () => {
  const eventOf = (id: string) => ({ ...EVENT, id });
  const page = (...ids: string[]) => answered(200, ids.map(eventOf));
  const [one, two, three] = [1, 2, 3].map((position) => `${position}-${ITEM.id}`) as [string, string, string];
  const queries = (runtime: FakeRuntime) => runtime.requests.map(({ url }) => new URL(url).search);

  it('are awaited without end, with a delay if there are none, until the loop is left', async () => {
    const { client, runtime } = clientOf([page(one), page(), page(), page(two, three)]);
    const seen = [];
    for await (const { id } of client.events({ wait: 700 })) {
      seen.push(id);
      if (id === two) break;
    }
    expect([seen, runtime.times]).toEqual([
      [one, two],
      [0, 700, 1_400, 2_100],
    ]);
  });

  it('of some projects continue where an empty page has stopped, and pause only at the end', async () => {
    const [stop, end] = ['x'.repeat(64), '9-ffffffff-ffff-ffff-ffff-ffffffffffff'];
    const link = (place: string) => `<?lastEventId=${place}&limit=2&projectId=a,b>`;
    const stopped = (place: string, relations: readonly string[], ...ids: string[]) =>
      answered(200, ids.map(eventOf), {
        link: relations.map((relation) => `${link(place)}; rel="${relation}"`).join(', '),
      });
    const { client, runtime } = clientOf([
      stopped(stop, ['next']),
      stopped(stop, ['next'], one),
      stopped(end, ['next', 'last']),
      stopped(two, ['next'], two),
    ]);
    const seen = [];
    for await (const { id } of client.events({ projectId: ['a', 'b'], wait: 700, pageSize: 2 })) {
      seen.push(id);
      if (id === two) break;
    }
    expect([seen, runtime.times]).toEqual([
      [one, two],
      [0, 0, 0, 700],
    ]);
    const projects = 'limit=2&projectId=a%2Cb';
    expect(queries(runtime)).toEqual([
      `?${projects}`,
      ...[stop, stop, end].map((place) => `?lastEventId=${place}&${projects}`),
    ]);
  });

  itRejects(nextEvent, [
    ['a list', [listed], unexpected(200)],
    ['a page without its Link', [answered(200, [], { link: '' })], unexpected(200)],
  ]);
});
