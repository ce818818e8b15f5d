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
    now = 1_000;
    keys = new RemoteKeySet(jose, issuer.settings.jwksUrl, () => now);
  });
  afterEach(async () => {
    keys.onApplicationShutdown();
    await issuer.close();
  });

  it('finds the key that a token names', async () => {
    expect(await find('first')).toMatchObject({ type: 'public', algorithm: { name: 'ECDSA' } });
  });

  it('asks the issuer once for all who wait, and for all who come later', async () => {
    expect(await findMany(Array<string>(100).fill('first'))).toEqual(new Set(['found']));
    now += 4 * MINUTE;
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
      now += 4_999;
      await expect(find('second')).rejects.toMatchObject(noKey);
      now += 1;
      expect(await find('second')).toBeDefined();
      expect(issuer.asked).toBe(2);
      await expect(find('first')).rejects.toMatchObject(noKey);
    });

    it('no more than that, however many are named', async () => {
      await find('first');
      for (let i = 0; i < 10; i++) {
        now += 1_000;
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
      now += 999;
      await expect(find('first')).rejects.toMatchObject(unavailable);
      expect(issuer.asked).toBe(0);
      now += 1;
      expect(await find('first')).toBeDefined();
    });

    it('keeps the keys that it knows for a day', async () => {
      await find('first');
      await issuer.close();
      for (const passed of [5 * MINUTE, DAY - 5 * MINUTE - 1]) {
        now += passed;
        expect(await find('first')).toBeDefined();
        await expect(find('second')).rejects.toMatchObject(unavailable);
      }
      now += 1;
      await expect(find('first')).rejects.toMatchObject(unavailable);
      await issuer.open();
      now += 1_000;
      expect(await find('first')).toBeDefined();
    });

    it.each(Object.entries(MISBEHAVIOURS))(
      'keeps them from an issuer that %s',
      async (_what, misbehaviour) => {
        await find('first');
        issuer.misbehaviour = misbehaviour;
        now += 5_000;
        const begun = performance.now();
        expect(await findMany(unknownKids(50))).toEqual(new Set([unavailable.code]));
        expect(performance.now() - begun).toBeLessThan(3_000);
        expect(issuer.asked).toBe(2);
        expect(await find('first')).toBeDefined();
        issuer.misbehaviour = undefined;
        now += 1_000;
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
        now += 1_000;
      }
      await issuer.open();
      await find('first');
      now += 5_000;
      await expect(find('unknown')).rejects.toMatchObject(noKey);
      expect(lines).toEqual([
        'the keys of the token issuer cannot be fetched: ECONNREFUSED',
        'the keys of the token issuer can be fetched again',
      ]);
    });
  });

  it('asks at the start and every five minutes, so that a key that was withdrawn is refused', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
    try {
      keys.onModuleInit();
      await find('first');
      issuer.keys = [second];
      now += 5 * MINUTE;
      jest.advanceTimersByTime(5 * MINUTE);
      while ((await findMany(['first'])).has('found')) await new Promise(setImmediate);
      await expect(find('first')).rejects.toMatchObject(noKey);
      expect(issuer.asked).toBe(2);
    } finally {
      jest.useRealTimers();
    }
  });
});
