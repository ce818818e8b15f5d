import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import * as jose from 'jose';
import { Issuer, type IssuerKey, makeKey, MISBEHAVIOURS } from '../../../test/support/issuer.js';
import { IssuerKeys } from './issuer-keys.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const noKey = { code: 'ERR_JWKS_NO_MATCHING_KEY' };
const unavailable = {
  name: 'DomainError',
  code: 'SERVICE_UNAVAILABLE',
  message: 'the keys of the token issuer are unavailable at the moment; retry later',
};

describe('IssuerKeys', () => {
  let first: IssuerKey;
  let second: IssuerKey;
  let privateJwk: jose.JWK;
  let issuer: Issuer;
  let now: number;
  let keys: IssuerKeys;
  let lines: unknown[];

  const advance = (milliseconds: number) => {
    now += milliseconds;
    jest.advanceTimersByTime(milliseconds);
  };
  /** Looks up the key of a token, as a verifier does. */
  const find = async (kid: string, alg = 'ES256') => keys.find({ alg, kid }, { payload: '', signature: '' });
  /** Returns the distinct outcomes of concurrent lookups. */
  const findMany = async (kids: readonly string[]) => {
    const outcomes = await Promise.allSettled(kids.map((kid) => find(kid)));
    return new Set(
      outcomes.map((outcome) =>
        outcome.status === 'fulfilled' ? 'found' : (outcome.reason as { code: string }).code,
      ),
    );
  };
  /** Makes the issuer misbehave. A fetch without end times out while its response is awaited. */
  const misbehave = (what: string) => {
    const timeOut = () => jest.advanceTimersByTime(2_000);
    const { fetch } = globalThis;
    issuer.misbehaviour = (request, response) => {
      MISBEHAVIOURS[what]!(request, response);
      if (what === 'never answers') timeOut();
    };
    if (what !== 'never ends its answer') return;
    jest.spyOn(globalThis, 'fetch').mockImplementationOnce(async (...request) => {
      const response = await fetch(...request);
      setImmediate(timeOut);
      return response;
    });
  };
  /** Answers every request with a text. */
  const answer = (text: string) => {
    issuer.misbehaviour = (_request, response) => response.end(text);
  };
  const unknownKids = (count: number) => Array.from({ length: count }, (_, index) => `unknown-${index}`);

  beforeAll(async () => {
    [first, second] = await Promise.all([makeKey('ES256', 'first'), makeKey('ES256', 'second')]);
    privateJwk = await jose.exportJWK(first.privateKey);
  });
  beforeEach(async () => {
    lines = [];
    const collect = (line: unknown) => void lines.push(line);
    Logger.overrideLogger({ log: collect, warn: collect, error: collect });
    issuer = await Issuer.start(first);
    // Only the timers that the service uses are faked.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
    jest.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
      const controller = new AbortController();
      setTimeout(
        () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
        milliseconds,
      );
      return controller.signal;
    });
    now = 0;
    keys = new IssuerKeys(issuer.settings.jwksUrl, () => now);
  });
  afterEach(async () => {
    keys.onApplicationShutdown();
    jest.restoreAllMocks();
    jest.useRealTimers();
    await issuer.close();
  });

  it('fetches once for concurrent and later lookups', async () => {
    expect(await findMany(Array<string>(100).fill('first'))).toEqual(new Set(['found']));
    advance(4 * MINUTE);
    expect(await findMany(Array<string>(100).fill('first'))).toEqual(new Set(['found']));
    expect(issuer.asked).toBe(1);
  });

  it('uses a key only with its own algorithm', async () => {
    await expect(find('first', 'ES384')).rejects.toMatchObject(noKey);
    await expect(find('first', 'RS256')).rejects.toMatchObject(noKey);
  });

  describe('fetches for an unknown key', () => {
    it('again after 5 seconds', async () => {
      await find('first');
      issuer.keys = [second];
      advance(4_999);
      await expect(find('second')).rejects.toMatchObject(noKey);
      advance(1);
      expect(await find('second')).toBeDefined();
      expect(issuer.asked).toBe(2);
      await expect(find('first')).rejects.toMatchObject(noKey);
    });

    it('no more often, however many keys are unknown', async () => {
      await find('first');
      for (let i = 0; i < 10; i++) {
        advance(1_000);
        expect(await findMany(unknownKids(200))).toEqual(new Set([noKey.code]));
      }
      expect(issuer.asked).toBe(3);
    });
  });

  describe('while the issuer is unavailable', () => {
    it('rejects a lookup of an unknown key, and fetches again after a second', async () => {
      await issuer.close();
      await expect(find('first')).rejects.toMatchObject(unavailable);
      await issuer.open();
      advance(999);
      await expect(find('first')).rejects.toMatchObject(unavailable);
      expect(issuer.asked).toBe(0);
      advance(1);
      expect(await find('first')).toBeDefined();
    });

    it('uses the known keys for a day', async () => {
      await find('first');
      await issuer.close();
      for (const elapsed of [5 * MINUTE, DAY - 5 * MINUTE - 1]) {
        advance(elapsed);
        expect(await find('first')).toBeDefined();
        await expect(find('second')).rejects.toMatchObject(unavailable);
      }
      advance(1);
      await expect(find('first')).rejects.toMatchObject(unavailable);
      await issuer.open();
      advance(1_000);
      expect(await find('first')).toBeDefined();
    });

    it.each([
      ['answers garbage', 'the response is not JSON'],
      ['answers JSON that is no set of keys', 'the response is not a key set'],
      ['answers 500', 'the status is 500, not 200'],
      ['answers 204', 'the status is 204, not 200'],
      ['leads elsewhere', 'the status is 302, not 200'],
      ['hangs up', 'UND_ERR_SOCKET'],
      ['never answers', 'The operation was aborted due to timeout'],
      ['never ends its answer', 'The operation was aborted due to timeout'],
    ])('keeps them if the issuer %s, and logs why', async (what, reason) => {
      await find('first');
      advance(5_000);
      misbehave(what);
      expect(await findMany(unknownKids(50))).toEqual(new Set([unavailable.code]));
      expect(lines).toEqual([`the keys of the token issuer cannot be fetched: ${reason}`]);
      expect(issuer.asked).toBe(2);
      expect(await find('first')).toBeDefined();
      issuer.misbehaviour = undefined;
      advance(1_000);
      await expect(find('unknown')).rejects.toMatchObject(noKey);
    });
  });

  it('fetches at the start and every five minutes, so that a withdrawn key is refused', async () => {
    keys.onModuleInit();
    await find('first');
    issuer.keys = [second];
    advance(5 * MINUTE);
    for (let ticks = 0; ticks < 100_000 && (await findMany(['first'])).has('found'); ticks++)
      await new Promise(setImmediate);
    await expect(find('first')).rejects.toMatchObject(noKey);
    expect(issuer.asked).toBe(2);
  });

  it.each<[string, (jwk: jose.JWK) => unknown]>([
    ['of an unknown type', (jwk) => ({ ...jwk, kty: 'new' })],
    ['with a point that is not on the curve', (jwk) => ({ ...jwk, x: jwk.y, y: jwk.x })],
    ['that is a shared secret', ({ kid }) => ({ kid, kty: 'oct', k: 'c2VjcmV0' })],
    ['that is private', (jwk) => ({ ...jwk, d: privateJwk.d })],
    ['for encryption', (jwk) => ({ ...jwk, use: 'enc' })],
  ])('uses the other keys next to one %s, which is never unavailable', async (_what, badOf) => {
    answer(JSON.stringify({ keys: [badOf(first.jwk), second.jwk] }));
    expect(await find('second')).toBeDefined();
    await expect(find('first')).rejects.not.toMatchObject({ name: 'DomainError' });
    expect(lines).toEqual([]);
  });

  it('refuses a set with an entry that is no key, keeps the keys that it has, and logs why', async () => {
    const text = JSON.stringify({ keys: [first.jwk, null] });
    answer(text);
    await expect(find('first')).rejects.toMatchObject({ code: 'ERR_JWKS_INVALID' });
    issuer.misbehaviour = undefined;
    expect(await find('first')).toBeDefined();
    answer(text);
    keys.onModuleInit();
    for (let ticks = 0; ticks < 100_000 && lines.length === 0; ticks++) await new Promise(setImmediate);
    expect(lines).toEqual(['the keys of the token issuer cannot be used: JSON Web Key Set malformed']);
    expect(await find('first')).toBeDefined();
  });
});
