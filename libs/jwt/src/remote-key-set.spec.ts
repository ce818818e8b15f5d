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
  const unknownKids = (count: number) => Array.from({ length: count }, (_, index) => `unknown-${index}`);

  beforeAll(async () => {
    [first, second] = await Promise.all([makeKey('ES256', 'first'), makeKey('ES256', 'second')]);
  });
  beforeEach(async () => {
    Logger.overrideLogger(false);
    issuer = await Issuer.start(first);
    // Of the timers no more than the service's own: those of Node itself stay as they are.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
    now = 0;
    keys = new RemoteKeySet(jose, issuer.settings.jwksUrl, () => now);
  });
  afterEach(async () => {
    keys.onApplicationShutdown();
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

    it.each(Object.entries(MISBEHAVIOURS))(
      'keeps them from an issuer that %s',
      async (_what, misbehaviour) => {
        await find('first');
        issuer.misbehaviour = misbehaviour;
        pass(5_000);
        const begun = performance.now();
        expect(await findMany(unknownKids(50))).toEqual(new Set([unavailable.code]));
        expect(performance.now() - begun).toBeLessThan(20_000);
        expect(issuer.asked).toBe(2);
        expect(await find('first')).toBeDefined();
        issuer.misbehaviour = undefined;
        pass(1_000);
        await expect(find('unknown')).rejects.toMatchObject(noKey);
      },
    );

    it('says so once, and why, and when it is there again', async () => {
      const lines: unknown[] = [];
      Logger.overrideLogger({
        log: (line) => lines.push(line),
        warn: (line) => lines.push(line),
        error: (line) => lines.push(line),
      });
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
    while ((await findMany(['first'])).has('found')) await new Promise(setImmediate);
    await expect(find('first')).rejects.toMatchObject(noKey);
    expect(issuer.asked).toBe(2);
  });

  describe('of an answer', () => {
    /** Why there are no keys, in the words of the log. */
    const failure = async (from = keys): Promise<string> => {
      const lines: string[] = [];
      Logger.overrideLogger({
        log: () => undefined,
        error: () => undefined,
        warn: (line: string) => lines.push(line),
      });
      await from.find({ alg: 'ES256', kid: 'first' }, { payload: '', signature: '' }).catch(() => undefined);
      return lines.join().replace('the keys of the token issuer cannot be fetched: ', '');
    };

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
    ])('says why it has no keys, from an issuer that %s', async (what, reason) => {
      issuer.misbehaviour = MISBEHAVIOURS[what]!;
      expect(await failure()).toBe(reason);
    });

    it('takes 256 KiB, counted decompressed', async () => {
      const text = JSON.stringify({ keys: [first.jwk] }).padEnd(262_144);
      issuer.misbehaviour = (_request, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(`${text} `));
      expect(await failure()).toBe('the answer has more than 262144 bytes');
      pass(1_000);
      issuer.misbehaviour = (_request, response) => response.end(text);
      expect(await find('first')).toBeDefined();
    });

    it('names what happened to the connection', async () => {
      const { jwksUrl } = issuer.settings;
      expect(await failure(new RemoteKeySet(jose, jwksUrl.replace('http:', 'https:')))).toMatch(/SSL/);
      await issuer.close();
      expect(await failure()).toBe('ECONNREFUSED');
    });
  });
});
