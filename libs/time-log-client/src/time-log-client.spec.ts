import { describe, expect, it } from '@jest/globals';
import { type NewTimeLog, TimeLogClient, type TimeLogClientOptions, TimeLogError } from './index.js';
import type { Fetch, Runtime } from './runtime.js';

const BASE_URL = 'https://time-logs.example';
const LOG: NewTimeLog = {
  projectId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  duration: 1.5,
  description: 'Wrote tests',
  date: '2026-01-31',
};
const ITEM = {
  id: '019c1363-4a3b-7245-b697-5dec9f548a52',
  projectId: LOG.projectId,
  duration: 1.5,
  description: 'Wrote tests',
  createdAt: '2026-01-31T09:30:00.123Z',
};
const RECORDED = { ...ITEM, date: LOG.date };
const PAGE = { data: [ITEM], meta: { total: 1, page: 1, limit: 50 } };
const NOW = Date.parse('2026-01-31T09:30:00Z');
const UNKNOWN = 'the log may have been recorded: record it again with the idempotencyKey of this error';

/** How the fake service answers one request: at once, never, or with a lost connection. */
type Answering = () => Response | 'nothing' | Error;

const answered =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answering =>
  () =>
    new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers });
const refused = (status: number, error: string, headers = {}) =>
  answered(status, { success: false, error, message: `says ${error}` }, headers);
const recorded = answered(201, { success: true, data: RECORDED });
const found = answered(200, { success: true, data: RECORDED });
const listed = answered(200, { success: true, ...PAGE });
const unavailable = refused(503, 'SERVICE_UNAVAILABLE');
const lost: Answering = () => new TypeError('fetch failed');
const deleted: Answering = () => new Response(null, { status: 204 });
const silent: Answering = () => 'nothing';

/** A runtime whose time passes only while nothing else can happen, with a service that answers as it is told. */
class FakeRuntime implements Runtime {
  readonly requests: { url: string; init: RequestInit; at: number }[] = [];
  chance = 0;
  /** Milliseconds that the machine sleeps whenever time passes. */
  sleep = 0;
  /** No time passes at all. */
  isStill = false;
  private time = NOW;

  constructor(private readonly answers: Answering[]) {}

  readonly fetch: Fetch = async (url, init) => {
    this.requests.push({ url, init, at: this.time - NOW });
    const answer = (this.answers.length > 1 ? this.answers.shift()! : this.answers[0]!)();
    if (answer instanceof Error) throw answer;
    if (answer instanceof Response) return answer;
    return new Promise((_resolve, reject) => {
      init.signal!.addEventListener('abort', () => reject(new DOMException('cut', 'AbortError')));
    });
  };

  readonly now = () => this.time;
  readonly random = () => this.chance;
  readonly schedule = (act: () => void, milliseconds: number) => {
    if (this.isStill) return () => undefined;
    const timer = setImmediate(() => {
      this.time += milliseconds + this.sleep;
      act();
    });
    return () => clearImmediate(timer);
  };

  /** Milliseconds from the start of the test to each request. */
  get times(): number[] {
    return this.requests.map(({ at }) => at);
  }

  /** Method and address of each request. */
  get calls(): string[] {
    return this.requests.map(({ url, init }) => `${init.method} ${url.replace(BASE_URL, '')}`);
  }

  header(name: string): (string | null)[] {
    return this.requests.map(({ init }) => new Headers(init.headers).get(name));
  }
}

function clientOf(answers: Answering[], options: Partial<TimeLogClientOptions> = {}) {
  const runtime = new FakeRuntime(answers);
  return { runtime, client: new TimeLogClient({ baseUrl: BASE_URL, token: 'secret', ...options }, runtime) };
}

/** The error that a call rejects with. */
async function failure(call: Promise<unknown>): Promise<TimeLogError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TimeLogError);
  return error as TimeLogError;
}

const expectFailure = async (
  call: Promise<unknown>,
  expected: Partial<Record<keyof TimeLogError, unknown>>,
) => expect(await failure(call)).toMatchObject(expected);

describe('what is sent', () => {
  const ofLog = `/api/v1/time-logs/${RECORDED.id}`;
  const withBody = { 'content-type': 'application/json' };
  const key = { 'idempotency-key': expect.stringMatching(/^[0-9a-f]{32}$/) };
  const body = JSON.stringify(LOG);

  it.each<[string, string, Answering, (client: TimeLogClient) => Promise<unknown>, unknown, object, string?]>(
    [
      [
        'POST',
        '/api/v1/time-logs',
        recorded,
        (it) => it.record(LOG),
        RECORDED,
        { ...withBody, ...key },
        body,
      ],
      ['PUT', ofLog, found, (it) => it.correct(RECORDED.id, LOG), RECORDED, withBody, body],
      ['DELETE', ofLog, deleted, (it) => it.delete(RECORDED.id), undefined, {}],
    ],
  )(
    'has method, path and headers of its operation: %s %s',
    async (...[method, path, answer, act, result, headers, sent]) => {
      const { client, runtime } = clientOf([answer]);
      expect(await act(client)).toEqual(result);
      const [{ url, init }] = runtime.requests as [(typeof runtime.requests)[0]];
      expect([init.method, url, init.body]).toEqual([method, `${BASE_URL}${path}`, sent]);
      expect([init.redirect, init.credentials]).toEqual(['manual', 'omit']);
      expect(Object.fromEntries(new Headers(init.headers))).toEqual({
        authorization: 'Bearer secret',
        'x-request-id': expect.stringMatching(/^[0-9a-f]{32}$/),
        ...headers,
      });
    },
  );
});

describe('get', () => {
  it('brings the log with an id', async () => {
    const { client, runtime } = clientOf([unavailable, found]);
    expect(await client.get(RECORDED.id)).toEqual(RECORDED);
    expect(runtime.calls).toEqual(Array(2).fill(`GET /api/v1/time-logs/${RECORDED.id}`));
  });

  it('rejects where there is none, and where the answer is no log', async () => {
    const { client } = clientOf([refused(404, 'NOT_FOUND'), listed]);
    await expectFailure(client.get(RECORDED.id), { code: 'NOT_FOUND', status: 404 });
    await expectFailure(client.get(RECORDED.id), { code: 'UNEXPECTED_ANSWER' });
  });

  it.each(['', 'x', `${RECORDED.id}/`, '../time-logs'])('asks for no id that is no UUID: %j', async (id) => {
    const { client, runtime } = clientOf([recorded]);
    for (const call of [() => client.get(id), () => client.correct(id, LOG), () => client.delete(id)])
      await expect(call()).rejects.toThrow(new TypeError('id must be a UUID'));
    expect(runtime.requests).toEqual([]);
  });
});

describe('record', () => {
  it('makes another key for each log', async () => {
    const { client, runtime } = clientOf([recorded]);
    await client.record(LOG);
    await client.record(LOG);
    expect(new Set(runtime.header('idempotency-key')).size).toBe(2);
  });

  it.each([
    ['lost connections', lost],
    ['408', refused(408, 'REQUEST_TIMEOUT')],
    ['429', refused(429, 'RATE_LIMITED')],
    ['503', unavailable],
    ['502 of a proxy', answered(502, '<h1>Bad Gateway</h1>', { 'content-type': 'text/html' })],
    ['504 of a proxy', answered(504, '')],
    [
      'an answer that is cut',
      () => new Response(new ReadableStream({ pull: (it) => it.error(new Error('cut')) })),
    ],
  ] as [string, Answering][])(
    'is repeated with the same key and request id after %s',
    async (_what, answer) => {
      const { client, runtime } = clientOf([answer, answer, recorded]);
      expect(await client.record(LOG, { idempotencyKey: 'mine' })).toEqual(RECORDED);
      expect(runtime.header('idempotency-key')).toEqual(['mine', 'mine', 'mine']);
      expect(new Set(runtime.header('x-request-id')).size).toBe(1);
    },
  );

  it.each([
    [400, 'VALIDATION_ERROR'],
    [401, 'UNAUTHORIZED'],
    [403, 'FORBIDDEN'],
    [404, 'NOT_FOUND'],
    [405, 'METHOD_NOT_ALLOWED'],
    [413, 'PAYLOAD_TOO_LARGE'],
    [415, 'UNSUPPORTED_MEDIA_TYPE'],
    [417, 'EXPECTATION_FAILED'],
    [422, 'IDEMPOTENCY_KEY_REUSED'],
    [431, 'HEADERS_TOO_LARGE'],
  ])('rejects after one try when it is refused with %d %s', async (status, code) => {
    const { client, runtime } = clientOf([refused(status, code, { 'x-request-id': 'of-the-service' })]);
    await expectFailure(client.record(LOG, { idempotencyKey: 'mine' }), {
      name: 'TimeLogError',
      code,
      status,
      requestId: 'of-the-service',
      retryAfter: undefined,
      isOutcomeUnknown: false,
      idempotencyKey: 'mine',
    });
    expect(runtime.requests).toHaveLength(1);
  });

  it('says with the message of the service alone why it was refused', async () => {
    const { client } = clientOf([refused(400, 'VALIDATION_ERROR')]);
    expect((await failure(client.record(LOG))).message).toBe('says VALIDATION_ERROR');
  });

  it('does not repeat a fault of the service, whose outcome it says to be unknown', async () => {
    const { client, runtime } = clientOf([refused(500, 'INTERNAL_ERROR')]);
    const error = await failure(client.record(LOG));
    expect([error.code, error.isOutcomeUnknown]).toEqual(['INTERNAL_ERROR', true]);
    expect(error.message).toBe(`says INTERNAL_ERROR; ${UNKNOWN}`);
    expect([error.idempotencyKey]).toEqual(runtime.header('idempotency-key'));
    expect(runtime.requests).toHaveLength(1);
  });

  it('remembers that an earlier try may have recorded the log when a later one is refused', async () => {
    const { client } = clientOf([lost, refused(401, 'UNAUTHORIZED')]);
    const error = await failure(client.record(LOG));
    expect([error.code, error.isOutcomeUnknown]).toEqual(['UNAUTHORIZED', true]);
    expect(error.message).toBe(`says UNAUTHORIZED; gave up after 2 tries; ${UNKNOWN}`);
  });

  it('knows that a limit of requests, however often met, records nothing', async () => {
    const { client } = clientOf([refused(429, 'RATE_LIMITED')], { tries: 3 });
    const error = await failure(client.record(LOG));
    expect([error.code, error.isOutcomeUnknown]).toEqual(['RATE_LIMITED', false]);
    expect(error.message).toBe('says RATE_LIMITED; gave up after 3 tries');
  });

  it.each([
    ['a list', listed],
    ['200 with a log', found],
    ['201 without a log', answered(201, { success: true })],
    ['201 with a page of HTML', answered(201, '<html>')],
    ['201 that is JSON of somebody else', answered(201, 'null')],
  ])('does not take %s for a success', async (_what, answer) => {
    const { client, runtime } = clientOf([answer]);
    const error = await failure(client.record(LOG));
    expect([error.code, error.isOutcomeUnknown]).toEqual(['UNEXPECTED_ANSWER', true]);
    expect(runtime.requests).toHaveLength(1);
  });

  it.each(['', 'a'.repeat(256), 'line\nbreak', 'ключ', ' ', 'a ', ' a'])(
    'refuses the key %j',
    async (idempotencyKey) => {
      const { client, runtime } = clientOf([recorded]);
      await expect(client.record(LOG, { idempotencyKey })).rejects.toEqual(
        new TypeError(
          'idempotencyKey must be 1 to 255 printable ASCII characters, without a space at its ends',
        ),
      );
      expect(runtime.requests).toEqual([]);
    },
  );
});

describe('correct', () => {
  const MAY = 'the log may have been corrected: correct it again';

  it('is repeated as it is', async () => {
    const { client, runtime } = clientOf([lost, unavailable, answered(502, ''), found]);
    expect(await client.correct(RECORDED.id, LOG)).toEqual(RECORDED);
    expect(runtime.requests.map(({ init: { method, body } }) => [method, body])).toEqual(
      Array(4).fill(['PUT', JSON.stringify(LOG)]),
    );
    expect(new Set(runtime.header('x-request-id')).size).toBe(1);
  });

  it('rejects where there is no log, also after a try whose outcome is unknown', async () => {
    const { client } = clientOf([refused(404, 'NOT_FOUND'), lost, refused(404, 'NOT_FOUND')]);
    await expectFailure(client.correct(RECORDED.id, LOG), {
      code: 'NOT_FOUND',
      message: 'says NOT_FOUND',
      isOutcomeUnknown: false,
    });
    await expectFailure(client.correct(RECORDED.id, LOG), {
      code: 'NOT_FOUND',
      message: `says NOT_FOUND; gave up after 2 tries; ${MAY}`,
      isOutcomeUnknown: true,
      idempotencyKey: undefined,
    });
  });

  it.each([
    ['200 without a log', listed],
    ['201 with a log', recorded],
    ['204', deleted],
  ] as [string, Answering][])('does not take %s for a success', async (_what, answer) => {
    const error = await failure(clientOf([answer]).client.correct(RECORDED.id, LOG));
    expect([error.code, error.isOutcomeUnknown]).toEqual(['UNEXPECTED_ANSWER', true]);
  });
});

describe('delete', () => {
  const missing = refused(404, 'NOT_FOUND');

  it.each([
    ['a lost connection', lost],
    ['a late answer', silent],
    ['503', unavailable],
    ['504 of a proxy', answered(504, '')],
  ] as [string, Answering][])('takes a log that is gone for its own work after %s', async (_what, answer) => {
    const { client, runtime } = clientOf([answer, missing]);
    await expect(client.delete(RECORDED.id)).resolves.toBeUndefined();
    expect(runtime.requests).toHaveLength(2);
  });

  it('rejects where there was no log before it could have done anything', async () => {
    for (const answers of [[missing], [refused(429, 'RATE_LIMITED'), missing]]) {
      const error = await failure(clientOf(answers).client.delete(RECORDED.id));
      expect([error.code, error.isOutcomeUnknown]).toEqual(['NOT_FOUND', false]);
    }
  });

  it('says that the log may be gone where it gives up', async () => {
    const error = await failure(clientOf([unavailable], { tries: 2 }).client.delete(RECORDED.id));
    expect(error).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message:
        'says SERVICE_UNAVAILABLE; gave up after 2 tries; the log may have been deleted: delete it again',
      isOutcomeUnknown: true,
    });
  });

  it.each([
    ['200 with a log', found],
    ['404 of a proxy', answered(404, '<html>')],
  ])('does not take %s for a success', async (_what, answer) => {
    for (const answers of [[answer], [lost, answer]]) {
      const error = await failure(clientOf(answers).client.delete(RECORDED.id));
      expect(error.code).toBe('UNEXPECTED_ANSWER');
    }
  });
});

describe('the pauses between tries', () => {
  it('lie anywhere below a bound that doubles up to 5 s', async () => {
    const { client, runtime } = clientOf([unavailable], { tries: 8 });
    runtime.chance = 1;
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
    ['a date as RFC 850 has it', { 'retry-after': 'Saturday, 31-Jan-26 09:30:09 GMT' }, 9_000],
    ['a date as asctime() has it', { 'retry-after': 'Sat Jan 31 09:30:09 2026' }, 9_000],
    ['a date in the past', { 'retry-after': 'Sat, 31 Jan 2026 09:29:00 GMT' }, 0],
    [
      'a date by a clock that is ahead',
      { 'retry-after': 'Sat, 31 Jan 2026 11:30:09 GMT', date: 'Sat, 31 Jan 2026 11:30:07 GMT' },
      2_000,
    ],
    ['nonsense', { 'retry-after': 'soon' }, 0],
  ])('begin with what Retry-After asks for: %s', async (_what, headers, pause) => {
    const { client, runtime } = clientOf([refused(503, 'SERVICE_UNAVAILABLE', headers), listed]);
    await client.listPage();
    expect(runtime.times).toEqual([0, pause]);
    const unlucky = clientOf([refused(503, 'SERVICE_UNAVAILABLE', headers), listed]);
    unlucky.runtime.chance = 1;
    await unlucky.client.listPage();
    expect(unlucky.runtime.times).toEqual([0, pause + 250]);
  });

  it('are not begun where the service asks for more time than there is', async () => {
    const { client, runtime } = clientOf([refused(429, 'RATE_LIMITED', { 'retry-after': '3600' })]);
    const error = await failure(client.record(LOG));
    expect([error.code, error.retryAfter, error.message]).toEqual([
      'RATE_LIMITED',
      3_600,
      'says RATE_LIMITED',
    ]);
    expect([runtime.times, runtime.now()]).toEqual([[0], NOW]);
  });

  it('end a call whose time is up when the machine wakes from sleep', async () => {
    const { client, runtime } = clientOf([unavailable]);
    runtime.sleep = 25 * 3_600_000;
    expect((await failure(client.record(LOG))).status).toBe(503);
    expect(runtime.requests).toHaveLength(1);
  });
});

describe('the bounds of a call', () => {
  it('are its tries', async () => {
    const { client, runtime } = clientOf([lost], { tries: 3 });
    const error = await failure(client.listPage());
    expect([error.code, error.status, error.isOutcomeUnknown]).toEqual(['NO_ANSWER', undefined, false]);
    expect(error.message).toBe('the connection failed; gave up after 3 tries');
    expect(error.cause).toEqual(new TypeError('fetch failed'));
    expect([error.requestId]).toEqual([...new Set(runtime.header('x-request-id'))]);
    expect(runtime.requests).toHaveLength(3);
  });

  it('are the time of a try and that of all tries', async () => {
    const { client, runtime } = clientOf([silent], { timeout: 4_000, deadline: 10_000 });
    const error = await failure(client.record(LOG));
    expect([error.code, error.isOutcomeUnknown]).toEqual(['NO_ANSWER', true]);
    expect(error.message).toBe(`no answer came in time; gave up after 3 tries; ${UNKNOWN}`);
    expect(runtime.times).toEqual([0, 4_000, 8_000]);
    expect(runtime.now() - NOW).toBe(10_000);
  });

  it('hold for a fetch that does not care about its signal', async () => {
    const { client } = clientOf([], { fetch: () => new Promise(() => undefined), tries: 1 });
    expect((await failure(client.listPage())).message).toBe('no answer came in time');
  });

  it('let a try that came too late be answered after the next one', async () => {
    const { client, runtime } = clientOf([silent, recorded]);
    expect(await client.record(LOG)).toEqual(RECORDED);
    expect(runtime.times).toEqual([0, 10_000]);
  });
});

describe('the signal of the caller', () => {
  const reason = new Error('no longer wanted');

  it('sends nothing where it has aborted before', async () => {
    const { client, runtime } = clientOf([recorded]);
    const error = await failure(client.record(LOG, { signal: AbortSignal.abort(reason) }));
    expect([error.code, error.cause, error.isOutcomeUnknown]).toEqual(['ABORTED', reason, false]);
    expect(runtime.requests).toEqual([]);
  });

  it('ends a try, whose outcome is unknown then', async () => {
    const controller = new AbortController();
    let sent: AbortSignal | null | undefined;
    const { client } = clientOf([], {
      fetch: (_url, { signal }) => {
        sent = signal;
        queueMicrotask(() => controller.abort(reason));
        return new Promise(() => undefined);
      },
    });
    const error = await failure(client.record(LOG, { signal: controller.signal }));
    expect([error.code, error.cause, error.isOutcomeUnknown]).toEqual(['ABORTED', reason, true]);
    expect(sent?.aborted).toBe(true);
  });

  it('ends a pause', async () => {
    const controller = new AbortController();
    const { client, runtime } = clientOf([
      () => {
        setImmediate(() => controller.abort(reason));
        return refused(429, 'RATE_LIMITED')();
      },
    ]);
    runtime.isStill = true;
    const error = await failure(client.record(LOG, { signal: controller.signal }));
    expect([error.code, error.cause, error.isOutcomeUnknown]).toEqual(['ABORTED', reason, false]);
    expect(runtime.requests).toHaveLength(1);
  });

  it('ends the wait for a token', async () => {
    const controller = new AbortController();
    const { client } = clientOf([recorded], {
      token: () => {
        queueMicrotask(() => controller.abort(reason));
        return new Promise(() => undefined);
      },
    });
    const error = await failure(client.record(LOG, { signal: controller.signal }));
    expect([error.code, error.isOutcomeUnknown]).toEqual(['ABORTED', false]);
  });

  it('is let go of when the call is over', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners++;
      add(...given);
    };
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners--;
      remove(...given);
    };
    const { client, runtime } = clientOf([unavailable, recorded]);
    await client.record(LOG, { signal });
    expect([runtime.requests.length, listeners]).toEqual([2, 0]);
  });
});

describe('the token', () => {
  it('is asked for once for each call, so that all tries are those of one principal', async () => {
    let count = 0;
    const token = async () => `token-${++count}`;
    const { client, runtime } = clientOf([lost, recorded, listed], { token });
    await client.record(LOG);
    await client.listPage();
    expect(runtime.header('authorization')).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2']);
  });

  it('may come from a file that ends with a line break', async () => {
    const { client, runtime } = clientOf([listed], { token: 'secret\n' });
    await client.listPage();
    expect(runtime.header('authorization')).toEqual(['Bearer secret']);
  });

  it.each(['', 'se cret', 'secret\nX: y', 'sécret'])('is refused, and not repeated, as %j', async (token) => {
    const { client, runtime } = clientOf([listed], { token });
    await expect(client.listPage()).rejects.toEqual(
      new TypeError('token must be visible ASCII characters without spaces'),
    );
    expect(runtime.requests).toEqual([]);
  });

  it('rejects a call with what is thrown instead of it', async () => {
    const { client } = clientOf([listed], { token: () => Promise.reject(new Error('signed out')) });
    await expect(client.listPage()).rejects.toEqual(new Error('signed out'));
  });

  it('does not keep a call waiting for ever', async () => {
    const { client, runtime } = clientOf([listed], { token: () => new Promise(() => undefined) });
    const error = await failure(client.listPage());
    expect([error.code, error.message]).toEqual(['NO_ANSWER', 'the token did not come in time']);
    expect(runtime.now() - NOW).toBe(30_000);
  });
});

describe('an answer that is not of the service', () => {
  it.each([
    [502, '<h1>Bad Gateway</h1>'],
    [403, '<h1>Forbidden</h1>'],
    [200, '<h1>Welcome</h1>'],
    [404, '{"success":false}'],
    [500, '[]'],
  ])('is told with its status: %d %s', async (status, body) => {
    const { client } = clientOf([answered(status, body, { 'content-type': 'text/html' })], { tries: 1 });
    const error = await failure(client.listPage());
    expect([error.code, error.status, error.isOutcomeUnknown]).toEqual(['UNEXPECTED_ANSWER', status, false]);
    expect(error.message).toBe(
      `the answer (${status}, text/html) is not the service's: see whether baseUrl is its address, and what a proxy before it says`,
    );
  });

  it.each([
    ['in Node', () => Response.redirect('https://elsewhere.example', 301)],
    ['in a browser', () => Response.error()],
  ])('may be a redirect %s, which is not followed', async (_where, answer) => {
    const { client, runtime } = clientOf([answer]);
    const error = await failure(client.listPage());
    expect([error.code, error.message]).toEqual([
      'UNEXPECTED_ANSWER',
      'the address redirects, which is not followed: give as baseUrl the address that it leads to',
    ]);
    expect(runtime.requests).toHaveLength(1);
  });

  it('may have a code of a later version, which is shown', async () => {
    const { client } = clientOf([refused(409, 'CONFLICT')]);
    const error = await failure(client.listPage());
    expect([error.code, error.status, error.message]).toEqual([
      'UNEXPECTED_ANSWER',
      409,
      'CONFLICT: says CONFLICT',
    ]);
  });
});

describe('totals', () => {
  const totals = {
    data: [{ projectId: LOG.projectId, count: 2, duration: 3 }],
    meta: { count: 2, duration: 3, total: 1, page: 1, limit: 50 },
  };
  const summed = answered(200, { success: true, ...totals });

  it('asks for groups with its filters and brings them with the sum of all', async () => {
    const { client, runtime } = clientOf([unavailable, summed]);
    const filter = { projectId: LOG.projectId, from: undefined, by: 'project', limit: 10 } as const;
    expect(await client.totals(filter)).toEqual(totals);
    await client.totals();
    const path = 'GET /api/v1/time-logs/totals';
    const filtered = `${path}?projectId=${LOG.projectId}&by=project&limit=10`;
    expect(runtime.calls).toEqual([filtered, filtered, path]);
  });

  it('brings the nearest number to a sum that has more digits', async () => {
    const text = JSON.stringify({ success: true, ...totals });
    for (const [digits, nearest] of [
      ['0.30000000000000000001', 0.3],
      ['9'.repeat(400), Infinity],
    ] as const) {
      const { client } = clientOf([answered(200, text.replaceAll('"duration":3', `"duration":${digits}`))]);
      expect((await client.totals()).meta.duration).toBe(nearest);
    }
  });

  it('rejects where the answer has no totals', async () => {
    const { client } = clientOf([listed]);
    await expectFailure(client.totals(), { code: 'UNEXPECTED_ANSWER' });
  });
});

describe('listPage', () => {
  it('asks for a page with its filters and brings it with its meta', async () => {
    const { client, runtime } = clientOf([listed]);
    const { projectId } = LOG;
    const filter = { projectId, from: '2026-01-01T00:00+05:30', to: undefined, page: 2, limit: 10 };
    expect(await client.listPage(filter)).toEqual(PAGE);
    await client.listPage();
    expect(runtime.calls).toEqual([
      `GET /api/v1/time-logs?projectId=${projectId}&from=2026-01-01T00%3A00%2B05%3A30&page=2&limit=10`,
      'GET /api/v1/time-logs',
    ]);
    expect(runtime.header('idempotency-key')).toEqual([null, null]);
  });
});

describe('list', () => {
  it('brings the logs of all pages', async () => {
    const { client, runtime } = clientOf([unavailable, listed]);
    const logs = [];
    for await (const log of client.list({ projectId: LOG.projectId })) logs.push(log);
    expect(logs).toEqual([ITEM]);
    expect(runtime.requests.at(-1)!.url).toBe(
      `${BASE_URL}/api/v1/time-logs?projectId=${LOG.projectId}&page=1&limit=1000`,
    );
  });

  it.each([49, 1_001, 99.5])('refuses pages of %d logs', (pageSize) => {
    const { client } = clientOf([listed]);
    expect(() => client.list({}, { pageSize })).toThrow(
      new TypeError('pageSize must be a whole number from 50 to 1000'),
    );
  });
});

describe('health', () => {
  it('resolves where the service is available', async () => {
    const { client, runtime } = clientOf([answered(200, 'OK')]);
    await expect(client.health()).resolves.toBeUndefined();
    expect(runtime.requests[0]!.url).toBe(`${BASE_URL}/health`);
  });

  it.each([
    ['it is not', unavailable, 'SERVICE_UNAVAILABLE'],
    ['the token is not valid', refused(401, 'UNAUTHORIZED'), 'UNAUTHORIZED'],
    ['something else answers', answered(200, '<html>'), 'UNEXPECTED_ANSWER'],
    ['nothing answers', lost, 'NO_ANSWER'],
  ])('rejects after one try where %s', async (_what, answer, code) => {
    const { client, runtime } = clientOf([answer]);
    expect((await failure(client.health())).code).toBe(code);
    expect(runtime.requests).toHaveLength(1);
  });
});

describe('the options', () => {
  const TWO = ['https://a.example', 'https://b.example'];
  const hostsOf = ({ requests }: FakeRuntime) => requests.map(({ url }) => new URL(url).hostname[0]).join('');

  it.each([
    ['https://time-logs.example/', '/api/v1/time-logs'],
    ['https://gateway.example/time//', '/time/api/v1/time-logs'],
  ])('take %s as baseUrl', async (baseUrl, path) => {
    const { client, runtime } = clientOf([listed], { baseUrl });
    await client.listPage();
    expect(new URL(runtime.requests[0]!.url).pathname).toBe(path);
  });

  it.each([
    '',
    '/api',
    'localhost:3000',
    'ftp://a.example',
    'https://a.example?b',
    'https://me:pw@a.example',
  ])('refuse %j as baseUrl', (baseUrl) => {
    expect(() => clientOf([], { baseUrl })).toThrow(
      new TypeError('baseUrl must be an absolute http or https URL, such as https://time-logs.example'),
    );
  });

  it('may have several addresses: the next one is asked where a connection fails or no answer comes', async () => {
    const baseUrl = ['https://a.example', 'https://b.example/', 'https://c.example'];
    const answers = [lost, unavailable, silent, recorded, listed, lost, listed];
    const { client, runtime } = clientOf(answers, { baseUrl });
    await client.record(LOG);
    await client.listPage();
    await client.listPage();
    // Who says that there is no service at the moment is there.
    expect(hostsOf(runtime)).toBe('abbccca');
    const keys = runtime.header('idempotency-key').slice(0, 4);
    expect([...new Set(keys)]).toEqual([expect.any(String)]);
  });

  it('leave an address once, however many calls have lost it', async () => {
    const { client, runtime } = clientOf([lost, lost, listed], { baseUrl: TWO });
    await Promise.all([client.listPage(), client.listPage()]);
    await client.listPage();
    expect(hostsOf(runtime)).toBe('aabbb');
  });

  it('stay at an address where the caller gives up', async () => {
    const { client, runtime } = clientOf([silent, listed], { baseUrl: TWO });
    const controller = new AbortController();
    const given = failure(client.listPage({}, { signal: controller.signal }));
    setImmediate(() => controller.abort());
    expect(await given).toMatchObject({ code: 'ABORTED' });
    await client.listPage();
    expect(hostsOf(runtime)).toBe('aa');
  });

  it('refuse no address', () => {
    expect(() => clientOf([], { baseUrl: [] })).toThrow(new TypeError('baseUrl must name an address'));
  });

  it.each(['/hours/time-logs', '/hours/time-logs/'])(
    'take %s as path of all that is about logs',
    async (path) => {
      const { client, runtime } = clientOf([recorded], { baseUrl: 'https://a.example/in', path });
      await client.record(LOG);
      const { id } = ITEM;
      for (const call of [
        ...[() => client.correct(id, LOG), () => client.get(id), () => client.delete(id)],
        ...[() => client.listPage({ page: 2 }), () => client.totals(), () => client.events().next()],
        () => client.health(),
      ])
        await call().catch(() => undefined);
      expect(runtime.calls.map((call) => call.replace('https://a.example/in', ''))).toEqual([
        'POST /hours/time-logs',
        `PUT /hours/time-logs/${ITEM.id}`,
        `GET /hours/time-logs/${ITEM.id}`,
        `DELETE /hours/time-logs/${ITEM.id}`,
        'GET /hours/time-logs?page=2',
        'GET /hours/time-logs/totals',
        'GET /hours/time-logs/events?limit=100',
        'GET /health',
      ]);
    },
  );

  it.each(
    [
      ['', 'work', '/work?a', '/work#a', '/a/../b', '//other.example/work', 'https://other.example/work'],
      ['//['],
    ].flat(),
  )('refuse %j as path', (path) => {
    expect(() => clientOf([], { path })).toThrow(
      new TypeError('path must be an absolute path, such as /api/v1/time-logs'),
    );
  });

  it.each([{ timeout: 0 }, { timeout: 2 ** 31 }, { deadline: Infinity }, { tries: 0 }, { tries: 1.5 }])(
    'refuse %j',
    (options) => expect(() => clientOf([], options)).toThrow(/must be a whole number from 1 to/),
  );

  it('take another fetch, which is not called as a method', async () => {
    let self: unknown = 'nobody';
    const other = async function (this: unknown) {
      // eslint-disable-next-line @typescript-eslint/no-this-alias
      self = this;
      return listed() as Response;
    };
    await clientOf([], { fetch: other }).client.listPage();
    expect(self).toBeUndefined();
  });
});

describe('events', () => {
  const PLACES = [1, 2, 3].map((position) => `${position}-${ITEM.id}`);
  const eventOf = (id: string) => ({ id, source: '/api/v1/time-logs', data: RECORDED });
  const page = (...ids: string[]) => answered(200, ids.map(eventOf));
  const [one, two, three] = PLACES as [string, string, string];
  const queries = (runtime: FakeRuntime) => runtime.requests.map(({ url }) => new URL(url).search);

  it('go to the end, each page from behind the last event', async () => {
    const { client, runtime } = clientOf([page(one, two), page(three)]);
    const seen = [];
    for await (const event of client.events({ pageSize: 2 })) seen.push(event);
    expect(seen).toEqual(PLACES.map(eventOf));
    expect(queries(runtime)).toEqual(['?limit=2', `?lastEventId=${two}&limit=2`]);
  });

  it('go on for ever, with a pause where there is nothing new, until the loop is left', async () => {
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

  it('are taken up again after the last event that was dealt with', async () => {
    const { client, runtime } = clientOf([page(two)]);
    for await (const { id } of client.events({ after: one })) expect(id).toBe(two);
    expect(queries(runtime)).toEqual([`?lastEventId=${one}&limit=100`]);
  });

  it('go on over lost connections and refusals', async () => {
    const { client } = clientOf([page(one, two), lost, unavailable, page(three), page()]);
    const seen = [];
    for await (const { id } of client.events({ pageSize: 2 })) seen.push(id);
    expect(seen).toEqual(PLACES);
  });

  describe('are applied to a copy', () => {
    const [id, other] = [ITEM.id, '019c1363-4a3b-7245-b697-5dec9f548a59'];
    const told = (position: number, type: string, data: { id: string }) => ({
      ...eventOf(`${position}-${data.id}`),
      type: `time-log.${type}`,
      data,
    });
    const gone = answered(410, {
      success: false,
      error: 'GONE',
      message: 'the feed no longer reaches back to this event: begin anew with an empty copy',
    });
    const corrected = { ...RECORDED, id, duration: 2 };
    const created = told(1, 'created', { ...RECORDED, id: other });

    it('before they are yielded', async () => {
      const events = [
        created,
        told(2, 'corrected', corrected),
        told(3, 'later', { id: other }),
        told(4, 'deleted', { id: other }),
      ];
      const { client } = clientOf([answered(200, events)]);
      const copy = new Map<string, typeof corrected>();
      const sizes = [];
      for await (const { id } of client.follow(copy)) sizes.push([id, copy.size]);
      expect(sizes).toEqual(events.map(({ id }, index) => [id, [1, 2, 2, 1][index]]));
      expect(copy).toEqual(new Map([[id, corrected]]));
    });

    it('which is filled anew where the feed no longer reaches back', async () => {
      const { client, runtime } = clientOf([
        answered(200, [created]),
        gone,
        answered(200, [told(7, 'corrected', corrected)]),
        answered(200, []),
      ]);
      const copy = new Map([['before', RECORDED]]) as never as Map<string, never>;
      const seen = [];
      for await (const event of client.follow(copy, { after: one, pageSize: 1 })) seen.push(event.id);
      expect([seen, [...copy.keys()]]).toEqual([[created.id, `7-${id}`], [id]]);
      expect(queries(runtime)).toEqual([
        `?lastEventId=${one}&limit=1`,
        `?lastEventId=${created.id}&limit=1`,
        '?limit=1',
        `?lastEventId=7-${id}&limit=1`,
      ]);
    });

    it('where the beginning cannot be gone', async () => {
      const { client } = clientOf([answered(200, [created]), gone, gone]);
      const copy = new Map<string, never>();
      const following = client.follow(copy, { pageSize: 1 });
      await following.next();
      expect((await failure(following.next())).code).toBe('GONE');
    });
  });

  it('end with the signal, also while they wait', async () => {
    const { client, runtime } = clientOf([page(one)]);
    runtime.isStill = true;
    const stop = new AbortController();
    const events = client.events({ wait: 1_000, signal: stop.signal });
    expect((await events.next()).value).toEqual(eventOf(one));
    const waiting = failure(events.next());
    stop.abort();
    expect((await waiting).code).toBe('ABORTED');
    expect(runtime.requests).toHaveLength(1);
  });

  it.each([
    [{ after: 'x' }, 'after must be the id of an event'],
    [{ after: ITEM.id }, 'after must be the id of an event'],
    [{ pageSize: 0 }, 'pageSize must be a whole number from 1 to 1000'],
    [{ pageSize: 1_001 }, 'pageSize must be a whole number from 1 to 1000'],
    [{ wait: -1 }, 'wait must be a whole number from 0 to 2147483647'],
  ])('refuse %j', (options, message) => {
    const { client } = clientOf([page()]);
    expect(() => client.events(options)).toThrow(new TypeError(message));
  });

  it.each([
    ['a list', listed],
    ['events without ids', answered(200, [{ data: RECORDED }])],
    ['null', answered(200, [null])],
    ['no JSON', answered(200, '<html>')],
  ])('take %s for no page of events', async (_what, answer) => {
    const { client } = clientOf([answer]);
    expect((await failure(client.events().next())).code).toBe('UNEXPECTED_ANSWER');
  });
});
