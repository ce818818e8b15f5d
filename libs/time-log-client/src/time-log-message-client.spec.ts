import { describe, expect, it } from '@jest/globals';
import { type NewTimeLog, TimeLogError } from './index.js';
import { type MessageProxy, TimeLogMessageClient } from './messages.js';
import type { Runtime } from './runtime.js';

const LOG: NewTimeLog = {
  projectId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  duration: 1.5,
  description: 'Wrote tests',
  date: '2026-01-31',
};
const RECORDED = {
  ...LOG,
  id: '019c1363-4a3b-7245-b697-5dec9f548a52',
  createdAt: '2026-01-31T09:30:00.123Z',
};
const UNKNOWN = 'the log may have been recorded: record it again with the idempotencyKey of this error';

type Observer = Parameters<ReturnType<MessageProxy['send']>['subscribe']>[0];
/** How the fake transport treats one message. */
type Answering = (observer: Observer, data: object) => void;

const answered =
  (body: object): Answering =>
  (observer) => {
    observer.next(body);
    observer.complete();
  };
const failed =
  (error: unknown): Answering =>
  (observer) =>
    observer.error(error);
const refused = (error: string) => failed({ success: false, error, message: `says ${error}` });
const recorded = answered({ success: true, data: RECORDED });
const silent: Answering = () => undefined;
const closed: Answering = (observer) => observer.complete();

/** A ClientProxy that answers as it is told, on a clock that moves only while nothing else can happen. */
class FakeTransport implements MessageProxy {
  readonly sent: { readonly pattern: string; readonly data: object; readonly at: number }[] = [];
  /** Messages that are waited for. */
  waiting = 0;
  private time = 0;

  constructor(private readonly answers: Answering[]) {}

  send(pattern: string, data: object) {
    return {
      subscribe: (observer: Observer) => {
        this.sent.push({ pattern, data, at: this.time });
        this.waiting++;
        (this.answers.length > 1 ? this.answers.shift()! : this.answers[0]!)(observer, data);
        return { unsubscribe: () => this.waiting-- };
      },
    };
  }

  get runtime(): Omit<Runtime, 'fetch'> {
    return {
      now: () => this.time,
      random: () => 0,
      schedule: (act, milliseconds) => {
        const timer = setImmediate(() => {
          this.time += milliseconds;
          act();
        });
        return () => clearImmediate(timer);
      },
    };
  }
}

function clientOf(...answers: Answering[]) {
  const proxy = new FakeTransport(answers);
  return { proxy, client: new TimeLogMessageClient({ proxy, token: 'secret' }, proxy.runtime) };
}

async function failure(call: Promise<unknown>): Promise<TimeLogError> {
  const error = await call.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(TimeLogError);
  return error as TimeLogError;
}

describe('the client over messages', () => {
  it('records a log with the token and a key of its own', async () => {
    const { client, proxy } = clientOf(recorded);
    expect(await client.record(LOG)).toEqual(RECORDED);
    expect(proxy.sent).toEqual([
      {
        pattern: 'time-log.record.v1',
        data: {
          accessToken: 'secret',
          idempotencyKey: expect.stringMatching(/^[0-9a-f]{32}$/),
          timeLog: LOG,
        },
        at: 0,
      },
    ]);
  });

  it('asks for the current token once a call, and sends none where it was given none', async () => {
    const proxy = new FakeTransport([refused('SERVICE_UNAVAILABLE'), recorded]);
    const tokens = ['first', 'second'];
    const current = new TimeLogMessageClient({ proxy, token: () => tokens.shift()! }, proxy.runtime);
    await current.record(LOG);
    await current.record(LOG);
    await new TimeLogMessageClient({ proxy }, proxy.runtime).record(LOG, { idempotencyKey: 'k' });
    expect(proxy.sent.slice(0, 3)).toMatchObject(
      ['first', 'first', 'second'].map((accessToken) => ({ data: { accessToken } })),
    );
    expect(proxy.sent[3]!.data).toEqual({ idempotencyKey: 'k', timeLog: LOG });
  });

  it.each([
    ['says nothing for 10 s', silent],
    ['ends without an answer', closed],
    ['fails', failed(new Error('Connection closed'))],
    ['fails with a text', failed('Error: Connection lost. Trying to reconnect...')],
    ['fails with an object', failed({ err: new Error('connect ECONNREFUSED') })],
    ['is overloaded', refused('SERVICE_UNAVAILABLE')],
    ['has had enough of this caller', refused('RATE_LIMITED')],
  ])('repeats a log under the same key where the other side %s', async (_what, answering) => {
    const { client, proxy } = clientOf(answering, answering, recorded);
    expect(await client.record(LOG)).toEqual(RECORDED);
    expect(proxy.sent).toHaveLength(3);
    expect(new Set(proxy.sent.map(({ data }) => JSON.stringify(data))).size).toBe(1);
    expect(proxy.waiting).toBe(0);
  });

  it('waits 10 s for an answer, and 30 s in all', async () => {
    const { client, proxy } = clientOf(silent);
    const error = await failure(client.record(LOG, { idempotencyKey: 'mine' }));
    expect(error).toMatchObject({
      code: 'NO_ANSWER',
      message: `no answer came in time; gave up after 3 tries; ${UNKNOWN}`,
      isOutcomeUnknown: true,
      idempotencyKey: 'mine',
      status: undefined,
      requestId: undefined,
    });
    expect(proxy.sent.map(({ at }) => at)).toEqual([0, 10_000, 20_000]);
    expect(proxy.waiting).toBe(0);
  });

  it.each(['VALIDATION_ERROR', 'UNAUTHORIZED', 'FORBIDDEN', 'IDEMPOTENCY_KEY_REUSED'] as const)(
    'rejects at once with what the service says: %s',
    async (code) => {
      const { client, proxy } = clientOf(refused(code));
      const error = await failure(client.record(LOG));
      expect([error.code, error.message, error.isOutcomeUnknown]).toEqual([code, `says ${code}`, false]);
      expect(proxy.sent).toHaveLength(1);
    },
  );

  it('knows no outcome where the service fails, or failed in a try before its refusal', async () => {
    const fault = await failure(clientOf(refused('INTERNAL_ERROR')).client.record(LOG));
    expect([fault.code, fault.isOutcomeUnknown]).toEqual(['INTERNAL_ERROR', true]);
    const late = await failure(clientOf(silent, refused('FORBIDDEN')).client.record(LOG));
    expect([late.code, late.isOutcomeUnknown]).toEqual(['FORBIDDEN', true]);
  });

  it.each([
    ['a text', failed('There is no matching message handler defined in the remote service.')],
    ['what Nest says', failed({ status: 'error', message: 'Internal server error' })],
    ['another body', answered({ data: RECORDED })],
    ['a code that it does not know', refused('TEAPOT')],
  ])('takes for an answer of somebody else %s, and does not repeat it', async (_what, answering) => {
    const { client, proxy } = clientOf(answering);
    expect(await failure(client.record(LOG))).toMatchObject({
      code: 'UNEXPECTED_ANSWER',
      isOutcomeUnknown: true,
    });
    expect(proxy.sent).toHaveLength(1);
  });

  it('ends with the signal of the caller, and waits no longer for the answer', async () => {
    const proxy = new FakeTransport([silent]);
    const still = { ...proxy.runtime, schedule: () => () => undefined };
    const client = new TimeLogMessageClient({ proxy, token: 'secret' }, still);
    const controller = new AbortController();
    const call = failure(client.listPage({}, { signal: controller.signal }));
    await new Promise(setImmediate);
    expect(proxy.waiting).toBe(1);
    controller.abort(new Error('enough'));
    expect(await call).toMatchObject({ code: 'ABORTED', cause: new Error('enough') });
    expect(proxy.waiting).toBe(0);
  });

  it('lists a page by what was given of the filter', async () => {
    const page = { data: [RECORDED], meta: { total: 1, page: 2, limit: 50 } };
    const { client, proxy } = clientOf(answered({ success: true, ...page }));
    expect(await client.listPage({ from: '2026-01-01', to: undefined, page: 2 })).toEqual(page);
    expect(proxy.sent).toMatchObject([
      {
        pattern: 'time-log.list.v1',
        data: { accessToken: 'secret', query: { from: '2026-01-01', page: 2 } },
      },
    ]);
  });

  it('sums by what was given of the filter', async () => {
    const totals = { data: [], meta: { count: 2, duration: 3, total: 0, page: 1, limit: 50 } };
    const { client, proxy } = clientOf(
      answered({ success: true, ...totals }),
      answered({ success: true, data: [], meta: { total: 1, page: 1, limit: 50 } }),
    );
    expect(await client.totals({ to: undefined, by: 'month' })).toEqual(totals);
    const data = { accessToken: 'secret', query: { by: 'month' } };
    expect(proxy.sent).toMatchObject([{ pattern: 'time-log.totals.v1', data }]);
    expect(await failure(client.totals())).toMatchObject({ code: 'UNEXPECTED_ANSWER' });
  });

  it('yields every log once, in smaller pages where the transport takes no larger ones', async () => {
    const logs = Array.from({ length: 180 }, (_, index) => ({ ...RECORDED, id: String(index) }));
    const { client, proxy } = clientOf((observer, data) => {
      const { page, limit } = (data as { query: { page: number; limit: number } }).query;
      if (limit > 60) {
        refused('PAYLOAD_TOO_LARGE')(observer, data);
        return;
      }
      const first = (page - 1) * limit;
      answered({
        success: true,
        data: logs.slice(first, first + limit),
        meta: { total: logs.length, page, limit },
      })(observer, data);
    });
    const yielded: string[] = [];
    for await (const { id } of client.list()) yielded.push(id);
    expect(yielded).toEqual(logs.map(({ id }) => id));
    expect(proxy.sent.slice(0, 6).map(({ data }) => (data as { query: object }).query)).toEqual(
      [1_000, 500, 250, 125, 62, 50].map((limit) => ({ page: 1, limit })),
    );
  });

  it('gives up a list where the transport does not take the smallest pages', async () => {
    const { client, proxy } = clientOf(refused('PAYLOAD_TOO_LARGE'));
    expect(await failure(client.list({}, { pageSize: 60 }).next())).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
    });
    expect(proxy.sent).toHaveLength(2);
  });

  it('refuses arguments that cannot work', async () => {
    const { client, proxy } = clientOf(recorded);
    await expect(client.record(LOG, { idempotencyKey: ' ' })).rejects.toThrow(TypeError);
    expect(() => client.list({}, { pageSize: 49 })).toThrow(TypeError);
    expect(() => new TimeLogMessageClient({ proxy, tries: 0 })).toThrow(
      new TypeError('tries must be a whole number from 1 to 9007199254740991'),
    );
    expect(proxy.sent).toEqual([]);
  });
});
