import { gzipSync } from 'node:zlib';
import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import * as jose from 'jose';
import { Issuer, type IssuerKey, makeKey, MISBEHAVIOURS } from '../../../test/support/issuer.js';
import { RemoteKeySet } from './remote-key-set.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const noKey = { code: 'ERR_JWKS_NO_MATCHING_KEY' };
const unavailable = {
  name: 'DomainError',
  code: 'SERVICE_UNAVAILABLE',
  message: 'the keys of the token issuer are unavailable at the moment; retry later',
};

describe('RemoteKeySet', () => {
  let first: IssuerKey;
  let second: IssuerKey;
  let issuer: Issuer;
  let now: number;
  let keys: RemoteKeySet;
  let lines: unknown[];

  const pass = (milliseconds: number) => {
    now += milliseconds;
    jest.advanceTimersByTime(milliseconds);
  };
  /** As a verifier looks for the key of a token. */
  const find = async (kid: string, alg = 'ES256') => keys.find({ alg, kid }, { payload: '', signature: '' });
  /** The outcomes of many at once, each outcome once. */
  const findMany = async (kids: readonly string[]) => {
    const outcomes = await Promise.allSettled(kids.map((kid) => find(kid)));
    return new Set(
      outcomes.map((outcome) =>
        outcome.status === 'fulfilled' ? 'found' : (outcome.reason as { code: string }).code,
      ),
    );
  };
  /** Has the issuer misbehave. The time of a fetch that never ends runs out when its answer is waited for. */
  const misbehave = (what: string) => {
    const runOut = () => jest.advanceTimersByTime(2_000);
    const { fetch } = globalThis;
    issuer.misbehaviour = (request, response) => {
      MISBEHAVIOURS[what]!(request, response);
      if (what === 'never answers') runOut();
    };
    if (what !== 'never ends its answer') return;
    jest.spyOn(globalThis, 'fetch').mockImplementationOnce(async (...request) => {
      const response = await fetch(...request);
      setImmediate(runOut);
      return response;
    });
  };
  const unknownKids = (count: number) => Array.from({ length: count }, (_, index) => `unknown-${index}`);

  beforeAll(async () => {
    [first, second] = await Promise.all([makeKey('ES256', 'first'), makeKey('ES256', 'second')]);
  });
  beforeEach(async () => {
    lines = [];
    const keep = (line: unknown) => void lines.push(line);
    Logger.overrideLogger({ log: keep, warn: keep, error: keep });
    issuer = await Issuer.start(first);
    // Of the timers no more than the service's own: those of Node itself stay as they are.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
    jest.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new DOMException('', 'TimeoutError')), milliseconds);
      return controller.signal;
    });
    now = 0;
    keys = new RemoteKeySet(jose, issuer.settings.jwksUrl, () => now);
  });
  afterEach(async () => {
    keys.onApplicationShutdown();
    jest.restoreAllMocks();
    jest.useRealTimers();
    await issuer.close();
  });

  it('finds the key that a token names', async () => {
    expect(await find('first')).toMatchObject({ type: 'public', algorithm: { name: 'ECDSA' } });
  });

  it('asks the issuer once for all who wait, and for all who come later', async () => {
    expect(await findMany(Array<string>(100).fill('first'))).toEqual(new Set(['found']));
    pass(4 * MINUTE);
    expect(await findMany(Array<string>(100).fill('first'))).toEqual(new Set(['found']));
    expect(issuer.asked).toBe(1);
  });

  it('takes a key for no other algorithm than its own', async () => {
    await expect(find('first', 'ES384')).rejects.toMatchObject(noKey);
    await expect(find('first', 'RS256')).rejects.toMatchObject(noKey);
  });

  describe('asks for a key that it does not know', () => {
    it('again after 5 seconds', async () => {
      await find('first');
      issuer.keys = [second];
      pass(4_999);
      await expect(find('second')).rejects.toMatchObject(noKey);
      pass(1);
      expect(await find('second')).toBeDefined();
      expect(issuer.asked).toBe(2);
      await expect(find('first')).rejects.toMatchObject(noKey);
    });

    it('no more than that, however many are named', async () => {
      await find('first');
      for (let i = 0; i < 10; i++) {
        pass(1_000);
        expect(await findMany(unknownKids(200))).toEqual(new Set([noKey.code]));
      }
      expect(issuer.asked).toBe(3);
    });
  });

  describe('while the issuer is away', () => {
    it('cannot tell whether a key is good that it does not know, and asks again after a second', async () => {
      await issuer.close();
      await expect(find('first')).rejects.toMatchObject(unavailable);
      await issuer.open();
      pass(999);
      await expect(find('first')).rejects.toMatchObject(unavailable);
      expect(issuer.asked).toBe(0);
      pass(1);
      expect(await find('first')).toBeDefined();
    });

    it('keeps the keys that it knows for a day', async () => {
      await find('first');
      await issuer.close();
      for (const passed of [5 * MINUTE, DAY - 5 * MINUTE - 1]) {
        pass(passed);
        expect(await find('first')).toBeDefined();
        await expect(find('second')).rejects.toMatchObject(unavailable);
      }
      pass(1);
      await expect(find('first')).rejects.toMatchObject(unavailable);
      await issuer.open();
      pass(1_000);
      expect(await find('first')).toBeDefined();
    });

    it.each([
      ['answers garbage', 'the answer is no JSON'],
      ['answers JSON that is no set of keys', 'the answer is no set of keys'],
      ['answers 500', 'the answer is 500, not 200'],
      ['answers 204', 'the answer is 204, not 200'],
      ['leads elsewhere', 'the answer is 302, not 200'],
      ['hangs up', 'UND_ERR_SOCKET'],
      ['never answers', 'no answer within 2000 ms'],
      ['never ends its answer', 'no answer within 2000 ms'],
      ['answers without end', 'the answer has more than 262144 bytes'],
    ])('keeps them from an issuer that %s, and says why', async (what, reason) => {
      await find('first');
      pass(5_000);
      misbehave(what);
      expect(await findMany(unknownKids(50))).toEqual(new Set([unavailable.code]));
      expect(lines).toEqual([`the keys of the token issuer cannot be fetched: ${reason}`]);
      expect(issuer.asked).toBe(2);
      expect(await find('first')).toBeDefined();
      issuer.misbehaviour = undefined;
      pass(1_000);
      await expect(find('unknown')).rejects.toMatchObject(noKey);
    });

    it('says so once, and why, and when it is there again', async () => {
      await issuer.close();
      for (let i = 0; i < 3; i++) {
        await expect(find('first')).rejects.toMatchObject(unavailable);
        pass(1_000);
      }
      await issuer.open();
      await find('first');
      pass(5_000);
      await expect(find('unknown')).rejects.toMatchObject(noKey);
      expect(lines).toEqual([
        'the keys of the token issuer cannot be fetched: ECONNREFUSED',
        'the keys of the token issuer can be fetched again',
      ]);
    });
  });

  it('asks at the start and every five minutes, so that a key that was withdrawn is refused', async () => {
    keys.onModuleInit();
    await find('first');
    issuer.keys = [second];
    pass(5 * MINUTE);
    for (let turns = 0; turns < 100_000 && (await findMany(['first'])).has('found'); turns++)
      await new Promise(setImmediate);
    await expect(find('first')).rejects.toMatchObject(noKey);
    expect(issuer.asked).toBe(2);
  });

  it('takes 256 KiB, counted decompressed', async () => {
    const text = JSON.stringify({ keys: [first.jwk] }).padEnd(262_144);
    issuer.misbehaviour = (_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(`${text} `));
    await expect(find('first')).rejects.toMatchObject(unavailable);
    expect(lines).toEqual([expect.stringMatching(/: the answer has more than 262144 bytes$/)]);
    pass(1_000);
    issuer.misbehaviour = (_request, response) => response.end(text);
    expect(await find('first')).toBeDefined();
  });

  it('names what happened to the connection', async () => {
    keys = new RemoteKeySet(jose, issuer.settings.jwksUrl.replace('http:', 'https:'));
    await expect(find('first')).rejects.toMatchObject(unavailable);
    expect(lines).toEqual([expect.stringMatching(/SSL/)]);
  });
});
