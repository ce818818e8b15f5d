import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { TimeLogService } from '../../src/time-log/application/time-log.service.js';
import { eventually } from '../../libs/host-kit/src/contract/eventually.js';
import { newGate } from '../support/gate.js';
import { LOG, refusal } from '../support/requests.js';
import { type Door, type Outcome, overHttp } from './doors.js';
import { HELD, HeldTimers } from './held-timers.js';
import { startTcpHost, type TcpHost } from './host.js';
import { describeMessages } from './messages.contract.js';
import { RawTcp } from './raw-tcp.js';

const accessToken = 'worker';
const UNAUTHORIZED = refusal('UNAUTHORIZED', 'a valid bearer token is required');

const error = (code: string, message: string): Outcome => ({ error: refusal(code, message) });
const invalid = (message: string) => error('VALIDATION_ERROR', message);

let tcp: TcpHost;
let door: Door;
let raw: RawTcp;
beforeAll(async () => {
  tcp = await startTcpHost();
  ({ door } = tcp);
  raw = await RawTcp.open(tcp.tcpPort);
});
afterAll(async () => {
  raw.close();
  await tcp.close();
});

/** Sends a message that is given as bytes. */
const ask = async (message: Buffer): Promise<Outcome> => {
  const answer = await raw.ask(message);
  return answer?.err ? { error: answer.err } : { answer: answer?.response };
};

describeMessages('TCP', async () => ({
  door,
  proxy: tcp.proxy,
  ask,
  askTotals: (message) => raw.askText(message),
  close: async () => undefined,
}));

describe('time logs over TCP', () => {
  it('need a token with the scope, before anything is validated', async () => {
    expect(await door.record({ accessToken: 'reader', timeLog: { x: 1 } })).toEqual(
      error('FORBIDDEN', 'the token lacks the scope time-logs:write'),
    );
    for (const operation of ['list', 'totals'] as const) {
      expect(await door[operation]({ accessToken: 'writer', query: { page: 0 } })).toEqual(
        error('FORBIDDEN', 'the token lacks the scope time-logs:read'),
      );
    }
  });

  it.each([
    ['broken', error('SERVICE_UNAVAILABLE', 'the tokens are out of reach')],
    ['secret', error('INTERNAL_ERROR', 'internal error')],
  ])('are answered where who decides tokens fails: %s', async (token, outcome) => {
    expect(await door.record({ accessToken: token, timeLog: LOG })).toEqual(outcome);
  });

  it('are refused under a key that is none', async () => {
    for (const idempotencyKey of ['a\u0007b', 'x'.repeat(256), null]) {
      expect(await door.record({ accessToken, idempotencyKey, timeLog: LOG })).toMatchObject({
        error: { error: 'VALIDATION_ERROR', message: expect.stringMatching(/^Idempotency-Key must /) },
      });
    }
  });

  it.each([
    [{ projectId: 'x', from: 'y', to: 'z' }, /^projectId must .*; from must .*; to must /],
    [{ page: 1.5, limit: '1e1' }, /^page must .*; limit must /],
    // No null for what may be left out.
    [
      { projectId: null, from: null, to: null, page: null, limit: null },
      /^projectId .*; from .*; to .*; page .*; limit /,
    ],
  ])('are neither listed nor summed by a query with faults: %j', async (query, message) => {
    for (const operation of ['list', 'totals'] as const) {
      expect(await door[operation]({ accessToken, query })).toEqual({
        error: { success: false, error: 'VALIDATION_ERROR', message: expect.stringMatching(message) },
      });
    }
  });
});

describe('messages over TCP', () => {
  it.each(['record', 'list', 'totals'] as const)('need a good token in an object: %s', async (operation) => {
    for (const data of [[], [{ accessToken }], 'worker', 7, true, {}]) {
      expect(await door[operation](data)).toEqual({ error: UNAUTHORIZED });
    }
    const long = 'x'.repeat(5_000);
    const texts = [
      'bad',
      'bad token',
      'ü',
      `${accessToken},`,
      long,
      '',
      ' worker',
      'worker ',
      'Bearer worker',
    ];
    for (const token of [...texts, null, 7, [accessToken], { accessToken }]) {
      expect(await door[operation]({ accessToken: token, timeLog: LOG })).toEqual({ error: UNAUTHORIZED });
    }
    expect(await door[operation]({ timeLog: LOG })).toEqual({ error: UNAUTHORIZED });
  });

  it.each([undefined, null, [], [LOG], 'x', 7])('need a log that is an object: %j', async (timeLog) => {
    const outcome = await door.record({ accessToken, ...(timeLog !== undefined && { timeLog }) });
    expect(outcome).toEqual(invalid('timeLog must be an object'));
  });

  it.each([null, [], 'x', 7])('take no query but an object: %j', async (query) => {
    expect(await door.list({ accessToken, query })).toEqual(invalid('query must be an object'));
    expect(await door.totals({ accessToken, query })).toEqual(invalid('query must be an object'));
  });

  it('name unknown members at every level', async () => {
    expect(await door.record({ accessToken, timeLog: { ...LOG, inner: 1 }, outer: 1 })).toEqual(
      invalid('unknown field: inner; unknown field: outer'),
    );
    expect(await door.list({ accessToken, query: { inner: 1 }, timeLog: LOG })).toEqual(
      invalid('unknown field: inner; unknown field: timeLog'),
    );
  });

  it('are bounded in depth', async () => {
    let deep: unknown = 1;
    for (let level = 0; level < 1_000; level++) deep = [deep];
    expect(await door.record({ accessToken, timeLog: { ...LOG, description: deep } })).toEqual(
      invalid('the message must not be nested deeper than 9 levels'),
    );
  });
});

describe('a host with messages over TCP', () => {
  it('has the keys of HTTP', async () => {
    const asked = { accessToken: 'worker', idempotencyKey: 'across', timeLog: LOG };
    const { answer } = (await door.record(asked)) as { answer: object };
    expect(await overHttp(tcp.port).record(asked)).toEqual({ answer: { ...answer, replayed: true } });
  });

  it.each(['null', 'undefined', '1'])('answers data that no client of Nest sends: %s', async (data) => {
    const member = data === 'undefined' ? '' : `,"data":${data}`;
    expect(await raw.ask(`{"pattern":"time-log.record.v1","id":"1"${member}}`)).toMatchObject({
      err: UNAUTHORIZED,
    });
  });

  it('answers an unknown pattern in the form of all errors', async () => {
    const sent = lastValueFrom(tcp.proxy.send('time-log.unknown.v1', { accessToken: 'worker' }));
    await expect(sent).rejects.toEqual(refusal('NOT_FOUND', 'no such pattern'));
  });

  describe('with a deadline that is over', () => {
    let timers: HeldTimers;
    let late: TcpHost;
    beforeAll(async () => {
      timers = new HeldTimers();
      late = await startTcpHost({ deadline: 2 * HELD });
    });
    afterAll(async () => {
      timers.restore();
      await late.close();
    });
    /** Ends the deadlines of what is asked, until all of it is answered. */
    const answersOf = async (asked: readonly Promise<Outcome>[]) => {
      let answers: Outcome[] | undefined;
      void Promise.all(asked).then((all) => (answers = all));
      return eventually(() => {
        timers.end();
        if (!answers) throw new Error('there are answers to come');
        return answers;
      });
    };
    const unavailable = refusal(
      'SERVICE_UNAVAILABLE',
      'the service is unavailable at the moment; retry later',
    );

    it('answers where who decides tokens says nothing', async () => {
      const asked = late.door.record({ accessToken: 'silent', timeLog: LOG });
      expect(await answersOf([asked])).toEqual([{ error: unavailable }]);
    });

    it('makes one big list at a time, for messages and requests, which wait for their turn', async () => {
      const service = late.app.get(TimeLogService);
      const held = newGate();
      const list = service.items.bind(service);
      const made = jest.spyOn(service, 'items').mockImplementation(async (filter, page, access) => {
        if (page!.limit! > 100) await held.opened;
        return list(filter, page, access);
      });
      // Else small ones would be made beside it.
      const weighed = jest.spyOn(service, 'weigh').mockResolvedValue(20e6);
      const big = { accessToken: 'reader', query: { limit: 101 } };
      const http = overHttp(late.port);
      const asked = [...Array<Door>(5).fill(late.door), http].map((each) => each.list(big));
      expect(await late.door.list({ accessToken: 'reader', query: { limit: 100 } })).toMatchObject({
        answer: {},
      });
      expect(await answersOf(asked)).toMatchObject(asked.map(() => ({ error: unavailable })));
      expect(made.mock.calls.filter(([, page]) => page!.limit! > 100)).toHaveLength(1);
      held.open();
      weighed.mockRestore();
      for (const each of [late.door, http])
        expect(await each.list(big)).toMatchObject({ answer: { meta: { limit: 101 } } });
      made.mockRestore();
    });
  });

  it('answers at its end what is under way, and refuses what comes then', async () => {
    const own = await startTcpHost({ deadline: 60_000 });
    const { asked, answered } = own.tokens;
    // Until its first valid token, a connection has one message at a time.
    await own.door.list({ accessToken });
    const underWay = own.door.record({ accessToken: 'held', timeLog: LOG });
    await asked.opened;
    const ended = own.app.close();
    await eventually(async () =>
      expect(await own.door.list({ accessToken: 'bad' })).toMatchObject({
        error: { error: 'SERVICE_UNAVAILABLE' },
      }),
    );
    answered.open();
    expect(await underWay).toMatchObject({ answer: { success: true } });
    await ended;
    await own.close();
  });
});
