import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type ResponseChannel, stateOf } from '../../../libs/strict-request/src/index.js';
import { type Gate, newGate } from '../../../test/support/gate.js';
import { type Grow, LargeAnswers } from './large-answers.js';

const unavailable: unknown = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });

/** Nobody knows the weight: then an answer waits for its turn. */
const weigh = async () => undefined;
function requestOf(id: string | undefined): object {
  const request = {};
  stateOf(request).caller = { id, scopes: [] };
  return request;
}

/** A client that takes its answer when its gate opens. */
function newClient(): ResponseChannel & { readonly taken: Gate; isCut: boolean } {
  const taken = newGate();
  return {
    taken,
    isCut: false,
    isClosed() {
      return this.isCut;
    },
    sent: () => taken.opened,
    close() {
      this.isCut = true;
      taken.open();
    },
  };
}

describe('LargeAnswers', () => {
  /** Two large answers for each caller, and three for all. None waits too long, however slow the machine is. */
  const newAnswers = (more = {}) =>
    new LargeAnswers({ small: 10, share: 150, room: 250, wait: Infinity, ...more });
  const make = async (answers: LargeAnswers, id: string | undefined, bytes: number) => {
    const client = newClient();
    await answers.make(requestOf(id), client, { weigh, make: async (grow) => grow(bytes) });
    return client;
  };

  it('leave room for others, whatever one caller asks for', async () => {
    const answers = newAnswers();
    const [, second] = [await make(answers, 'one', 100), await make(answers, 'one', 100)];
    await expect(make(answers, 'one', 100)).rejects.toEqual(unavailable);
    await make(answers, 'other', 100);
    await expect(make(answers, 'third', 100)).rejects.toEqual(unavailable);
    second.taken.open();
    await nextTurn();
    await make(answers, 'third', 100);
  });

  it.each([
    ['before they are made, where their weight is known', 11, 0],
    ['before the rest of them is made, where it is not', 10, 2],
  ])('are refused %s', async (_when, weight, expected) => {
    const answers = newAnswers({ room: 0 });
    let parts = 0;
    const made = answers.make(requestOf('one'), newClient(), {
      weigh: async () => weight,
      make: async (grow) => {
        for (; parts < 9; parts++) grow(5);
      },
    });
    await expect(made).rejects.toEqual(unavailable);
    expect(parts).toBe(expected);
  });

  it('are not weighed where there is room', async () => {
    const weighed = () => Promise.reject(new Error('weighed'));
    const making = { weigh: weighed, make: async () => 'made' };
    expect(await newAnswers().make(requestOf('one'), newClient(), making)).toBe('made');
  });

  /** Has somebody take the turn until the gate opens. */
  const holdTurn = (answers: LargeAnswers) => {
    const gate = newGate();
    const made = answers.make(requestOf('large'), newClient(), { weigh, make: () => gate.opened });
    return { end: async () => (gate.open(), made) };
  };

  it('need no turn where they are small, and are made one at a time then', async () => {
    const answers = newAnswers();
    const turn = holdTurn(answers);
    let [making, most] = [0, 0];
    const ask = (id: string) => {
      const request = requestOf(id);
      stateOf(request).remainingWaitMs = 600_000;
      return answers.make(request, newClient(), {
        weigh: async () => 10,
        make: async (grow) => {
          most = Math.max(most, ++making);
          grow(10);
          await nextTurn();
          making--;
          return id;
        },
      });
    };
    expect(await Promise.all(['one', 'one', 'two'].map(ask))).toEqual(['one', 'one', 'two']);
    expect(most).toBe(1);
    await turn.end();
  });

  it.each([
    ['their weight is large', 11, ['end of turn', 'made']],
    ['they grow larger than their weight', 10, ['begun', 'end of turn', 'made']],
  ])('wait for their turn where %s', async (_what, weight, expected) => {
    const answers = newAnswers();
    const turn = holdTurn(answers);
    const order: string[] = [];
    const made = answers.make(requestOf('one'), newClient(), {
      weigh: async () => weight,
      make: async (grow) => {
        order.push('begun');
        grow(11);
        order.splice(-1, 1, 'made');
      },
    });
    await nextTurn();
    order.push('end of turn');
    await turn.end();
    await made;
    expect(order).toEqual(expected);
    // It holds room like any other.
    await expect(make(answers, 'one', 139)).resolves.toBeDefined();
    await expect(make(answers, 'one', 11)).rejects.toEqual(unavailable);
  });

  it.each(['one', undefined])('need no room where they are small, and hold none: caller %s', async (id) => {
    const answers = newAnswers({ room: 0, share: 0 });
    for (let count = 0; count < 50; count++) await make(answers, id, 10);
  });

  it('share what a caller has among all without an id', async () => {
    const answers = newAnswers();
    for (let count = 0; count < 2; count++) await make(answers, undefined, 100);
    await expect(make(answers, undefined, 100)).rejects.toEqual(unavailable);
  });

  it('are given up when their client takes too long', async () => {
    const answers = newAnswers({ longest: 50 });
    const client = await make(answers, 'one', 300);
    await client.taken.opened;
    expect(client.isCut).toBe(true);
    await nextTurn();
    await make(answers, 'one', 300);
  });

  it('are made for the callers in turn', async () => {
    const answers = newAnswers();
    const began = newGate();
    const order: string[] = [];
    const ask = (id: string, name: string) =>
      answers.make(requestOf(id), newClient(), {
        weigh,
        make: async () => {
          await began.opened;
          order.push(name);
        },
      });
    const asked: Promise<unknown>[] = [];
    for (const name of ['one a', 'one b', 'one c', 'two a', 'two b', 'three a']) {
      asked.push(ask(name.split(' ')[0]!, name));
      // First it looks whether it is small.
      await nextTurn();
    }
    began.open();
    await Promise.all(asked);
    expect(order).toEqual(['one a', 'one b', 'two a', 'three a', 'one c', 'two b']);
  });

  it('are made on where one fails, is not waited for any more, or has nobody who takes it', async () => {
    const answers = newAnswers();
    const held = newGate();
    const made: string[] = [];
    const ask = (name: string, client = newClient(), wait?: number) => {
      const request = requestOf('one');
      if (wait !== undefined) stateOf(request).remainingWaitMs = wait;
      const make = async (grow: Grow) => {
        made.push(name);
        if (name === 'held') await held.opened;
        if (name === 'failed') throw new Error('failed');
        grow(300);
      };
      return answers.make(request, client, { weigh, make });
    };
    const gone = newClient();
    gone.close();
    await expect(ask('held', newClient(), 20)).rejects.toEqual(unavailable);
    await expect(ask('late', newClient(), 1)).rejects.toEqual(unavailable);
    const failed = ask('failed');
    held.open();
    await expect(failed).rejects.toThrow('failed');
    expect(await ask('gone', gone)).toBeUndefined();
    // The one that was held was dropped, and so takes no room.
    await ask('last');
    expect(made).toEqual(['held', 'failed', 'last']);
  });
});
