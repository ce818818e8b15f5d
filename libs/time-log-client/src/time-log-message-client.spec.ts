import { describe, expect, it } from '@jest/globals';
import { failure, FakeClock, NEW_LOG as LOG, RECORDED } from '../../../test/support/client.js';
import { type MessageProxy, TimeLogMessageClient } from './messages.js';

type Observer = Parameters<ReturnType<MessageProxy['send']>['subscribe']>[0];
/** The reaction of the fake transport to a message. */
type Reaction = (observer: Observer, data: object) => void;

const answered =
  (body: object): Reaction =>
  (observer) => {
    observer.next(body);
    observer.complete();
  };
const failed =
  (error: unknown): Reaction =>
  (observer) =>
    observer.error(error);
const refused = (error: string) => failed({ success: false, error, message: `says ${error}` });
const recorded = answered({ success: true, data: RECORDED });
const silent: Reaction = () => undefined;
const closed: Reaction = (observer) => observer.complete();

/** A fake ClientProxy. */
class FakeTransport implements MessageProxy {
  readonly sent: { readonly pattern: string; readonly data: object }[] = [];
  /** The number of messages whose reply is awaited. */
  waiting = 0;
  readonly runtime = new FakeClock();

  constructor(private readonly answers: Reaction[]) {}

  send(pattern: string, data: object) {
    return {
      subscribe: (observer: Observer) => {
        this.sent.push({ pattern, data });
        this.waiting++;
        (this.answers.length > 1 ? this.answers.shift()! : this.answers[0]!)(observer, data);
        return { unsubscribe: () => this.waiting-- };
      },
    };
  }
}

function clientOf(...answers: Reaction[]) {
  const proxy = new FakeTransport(answers);
  return { proxy, client: new TimeLogMessageClient({ proxy, token: 'secret' }, proxy.runtime) };
}

describe('the client over messages', () => {
  it.each([
    ['does not reply within 10 s', silent],
    ['completes without a reply', closed],
    ['fails', failed(new Error('Connection closed'))],
    ['is overloaded', refused('SERVICE_UNAVAILABLE')],
    ['limits the rate', refused('RATE_LIMITED')],
  ])('repeats a message with the same key if the service %s', async (_what, reaction) => {
    const { client, proxy } = clientOf(reaction, reaction, recorded);
    expect(await client.record(LOG)).toEqual(RECORDED);
    expect(proxy.sent).toHaveLength(3);
    expect(new Set(proxy.sent.map(({ data }) => JSON.stringify(data))).size).toBe(1);
  });

  it.each(['FORBIDDEN', 'PROJECT_CLOSED'])(
    'rejects at once if the service or its host refuses with %s',
    async (code) => {
      const { client, proxy } = clientOf(refused(code));
      const error = await failure(client.record(LOG));
      expect([error.code, error.message, error.isOutcomeUnknown]).toEqual([code, `says ${code}`, false]);
      expect(proxy.sent).toHaveLength(1);
    },
  );

  it.each([
    ['a string', failed('There is no matching message handler defined in the remote service.')],
    ['an error of Nest', failed({ status: 'error', message: 'Internal server error' })],
    ['another body', answered({ data: RECORDED })],
  ])('rejects with UNEXPECTED_ANSWER after %s, and does not repeat the message', async (_what, reaction) => {
    const { client, proxy } = clientOf(reaction);
    expect(await failure(client.record(LOG))).toMatchObject({
      code: 'UNEXPECTED_ANSWER',
      isOutcomeUnknown: true,
    });
    expect(proxy.sent).toHaveLength(1);
  });

  it('ends with the signal of the caller, and no longer waits for the reply', async () => {
    const proxy = new FakeTransport([silent]);
    const stopped = Object.assign(proxy.runtime, { schedule: () => () => undefined });
    const client = new TimeLogMessageClient({ proxy, token: 'secret' }, stopped);
    const controller = new AbortController();
    const call = failure(client.listPage({}, { signal: controller.signal }));
    await new Promise(setImmediate);
    expect(proxy.waiting).toBe(1);
    controller.abort(new Error('no longer needed'));
    expect(await call).toMatchObject({ code: 'ABORTED', cause: new Error('no longer needed') });
    expect(proxy.waiting).toBe(0);
  });

  it('returns totals by the defined values of the filter', async () => {
    const totals = { data: [], meta: { count: 2, duration: 3, total: 0, page: 1, limit: 50 } };
    const { client, proxy } = clientOf(
      answered({ success: true, ...totals }),
      answered({ success: true, data: [], meta: { total: 1, page: 1, limit: 50 } }),
    );
    const attributes = { userId: 'ada', billable: true };
    expect(await client.totals({ to: undefined, by: 'month', attributes })).toEqual(totals);
    const query = { by: 'month', 'attributes.userId': 'ada', 'attributes.billable': true };
    const data = { accessToken: 'secret', query };
    expect(proxy.sent).toMatchObject([{ pattern: 'time-log.totals.v1', data }]);
    expect(await failure(client.totals())).toMatchObject({ code: 'UNEXPECTED_ANSWER' });
  });

  it('yields every log once, in smaller pages if larger ones exceed the limit of the transport', async () => {
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
});
