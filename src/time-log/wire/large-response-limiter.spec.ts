import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type ResponseChannel, stateOf } from '../../../libs/strict-request/src/index.js';
import { type Gate, newGate } from '../../../test/support/gate.js';
import { type ReportBytes, LargeResponseLimiter } from './large-response-limiter.js';

const unavailable: unknown = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });

/** Without an estimate a response waits for the queue of large ones. */
const estimateBytes = async () => undefined;
function requestOf(id: string | undefined): object {
  const request = {};
  stateOf(request).caller = { id, scopes: [] };
  return request;
}

/** Returns a client that receives its response when its gate opens. */
function newClient(): ResponseChannel & { readonly taken: Gate; isDisconnected: boolean } {
  const taken = newGate();
  return {
    taken,
    isDisconnected: false,
    isClosed() {
      return this.isDisconnected;
    },
    sent: () => taken.opened,
    close() {
      this.isDisconnected = true;
      taken.open();
    },
  };
}

describe('LargeResponseLimiter', () => {
  /** Returns a limiter for two large responses of each caller and three of all, without a limit of time. */
  const newLimiter = (more = {}) =>
    new LargeResponseLimiter({
      smallBytes: 10,
      unsentBytesPerCaller: 150,
      unsentBytes: 250,
      queueMs: Infinity,
      ...more,
    });
  const make = async (limiter: LargeResponseLimiter, id: string | undefined, bytes: number) => {
    const client = newClient();
    await limiter.make(requestOf(id), client, {
      estimateBytes,
      make: async (reportBytes) => reportBytes(bytes),
    });
    return client;
  };

  it('leaves memory for others, whatever one caller requests', async () => {
    const limiter = newLimiter();
    const [, second] = [await make(limiter, 'one', 100), await make(limiter, 'one', 100)];
    await expect(make(limiter, 'one', 100)).rejects.toEqual(unavailable);
    await make(limiter, 'other', 100);
    await expect(make(limiter, 'third', 100)).rejects.toEqual(unavailable);
    second.taken.open();
    await nextTurn();
    await make(limiter, 'third', 100);
  });

  it.each([
    ['before it is made if there is an estimate', 11, 0],
    ['while it is made otherwise', 10, 2],
  ])('rejects a large response %s', async (_when, estimate, expected) => {
    const limiter = newLimiter({ unsentBytes: 0 });
    let parts = 0;
    const made = limiter.make(requestOf('one'), newClient(), {
      estimateBytes: async () => estimate,
      make: async (reportBytes) => {
        for (; parts < 9; parts++) reportBytes(5);
      },
    });
    await expect(made).rejects.toEqual(unavailable);
    expect(parts).toBe(expected);
  });

  it('estimates nothing below its limits', async () => {
    const job = { estimateBytes: () => Promise.reject(new Error('estimated')), make: async () => 'made' };
    expect(await newLimiter().make(requestOf('one'), newClient(), job)).toBe('made');
  });

  /** Keeps the queue of large responses busy until `end`. */
  const occupyQueue = (limiter: LargeResponseLimiter) => {
    const gate = newGate();
    const made = limiter.make(requestOf('large'), newClient(), { estimateBytes, make: () => gate.opened });
    return { end: async () => (gate.open(), made) };
  };

  it('makes small responses one at a time while the queue of large ones is busy', async () => {
    const limiter = newLimiter();
    const queue = occupyQueue(limiter);
    let [running, mostRunning] = [0, 0];
    const ask = (id: string) => {
      const request = requestOf(id);
      stateOf(request).remainingWaitMs = 600_000;
      return limiter.make(request, newClient(), {
        estimateBytes: async () => 10,
        make: async (reportBytes) => {
          mostRunning = Math.max(mostRunning, ++running);
          reportBytes(10);
          await nextTurn();
          running--;
          return id;
        },
      });
    };
    expect(await Promise.all(['one', 'one', 'two'].map(ask))).toEqual(['one', 'one', 'two']);
    expect(mostRunning).toBe(1);
    await queue.end();
  });

  it.each([
    ['its estimate is large', 11, ['queue is free', 'made']],
    ['it grows larger than its estimate', 10, ['begun', 'queue is free', 'made']],
  ])('makes a response in the queue of large ones if %s', async (_what, estimate, expected) => {
    const limiter = newLimiter();
    const queue = occupyQueue(limiter);
    const order: string[] = [];
    const made = limiter.make(requestOf('one'), newClient(), {
      estimateBytes: async () => estimate,
      make: async (reportBytes) => {
        order.push('begun');
        reportBytes(11);
        order.splice(-1, 1, 'made');
      },
    });
    await nextTurn();
    order.push('queue is free');
    await queue.end();
    await made;
    expect(order).toEqual(expected);
    // It counts like any other.
    await expect(make(limiter, 'one', 139)).resolves.toBeDefined();
    await expect(make(limiter, 'one', 11)).rejects.toEqual(unavailable);
  });

  it.each(['one', undefined])('does not limit small responses: caller %s', async (id) => {
    const limiter = newLimiter({ unsentBytes: 0, unsentBytesPerCaller: 0 });
    for (let count = 0; count < 50; count++) await make(limiter, id, 10);
  });

  it('counts all callers without an id as one', async () => {
    const limiter = newLimiter();
    for (let count = 0; count < 2; count++) await make(limiter, undefined, 100);
    await expect(make(limiter, undefined, 100)).rejects.toEqual(unavailable);
  });

  it('disconnects a client that takes too long', async () => {
    const limiter = newLimiter({ sendMs: 50 });
    const client = await make(limiter, 'one', 300);
    await client.taken.opened;
    expect(client.isDisconnected).toBe(true);
    await nextTurn();
    await make(limiter, 'one', 300);
  });

  it('serves callers in rotation', async () => {
    const limiter = newLimiter();
    const began = newGate();
    const order: string[] = [];
    const ask = (id: string, name: string) =>
      limiter.make(requestOf(id), newClient(), {
        estimateBytes,
        make: async () => {
          await began.opened;
          order.push(name);
        },
      });
    const asked: Promise<unknown>[] = [];
    for (const name of ['one a', 'one b', 'one c', 'two a', 'two b', 'three a']) {
      asked.push(ask(name.split(' ')[0]!, name));
      // The queue of small responses is tried first.
      await nextTurn();
    }
    began.open();
    await Promise.all(asked);
    expect(order).toEqual(['one a', 'one b', 'two a', 'three a', 'one c', 'two b']);
  });

  it('continues after a failure, a missed deadline or a disconnect', async () => {
    const limiter = newLimiter();
    const held = newGate();
    const made: string[] = [];
    const ask = (name: string, client = newClient(), wait?: number) => {
      const request = requestOf('one');
      if (wait !== undefined) stateOf(request).remainingWaitMs = wait;
      const make = async (reportBytes: ReportBytes) => {
        made.push(name);
        if (name === 'held') await held.opened;
        if (name === 'failed') throw new Error('failed');
        reportBytes(300);
      };
      return limiter.make(request, client, { estimateBytes, make });
    };
    const gone = newClient();
    gone.close();
    await expect(ask('held', newClient(), 20)).rejects.toEqual(unavailable);
    await expect(ask('late', newClient(), 1)).rejects.toEqual(unavailable);
    const failed = ask('failed');
    held.open();
    await expect(failed).rejects.toThrow('failed');
    await expect(ask('out of time', newClient(), 0)).rejects.toEqual(unavailable);
    expect(await ask('gone', gone)).toBeUndefined();
    // The response that was late was dropped, so it does not count.
    await ask('last');
    expect(made).toEqual(['held', 'failed', 'last']);
  });
});
