import { beforeEach, describe, expect, it } from '@jest/globals';
import { AccessTokenLookup, type FoundToken } from './access-token.lookup.js';
import { AccessTokenVerifier } from './access-token.verifier.js';
import { DeclaredTokens } from './declared-tokens.js';
import { digestOf, newToken } from './token-text.js';

const SCOPES = ['logs:read', 'logs:write'];
const DECLARED = 'declared-token-of-32-characters-or-more';

interface Statement {
  readonly digests: readonly Buffer[];
  readonly answer: () => void;
  readonly fail: (error: Error) => void;
}

/** Stands where the database stands; answers when it is told to, or at once. */
class FakeLookup extends AccessTokenLookup {
  readonly known = new Map<string, FoundToken>();
  /** Those that have begun, in order. */
  readonly statements: Statement[] = [];
  answersAtOnce = true;
  underWay = 0;
  mostUnderWay = 0;

  constructor() {
    super(undefined as never);
  }

  /** Makes a token that is known from now on. */
  add(remaining?: number): string {
    const token = newToken();
    const caller = { id: `id-${this.known.size}`, scopes: ['time-logs:read'] };
    this.known.set(digestOf(token).toString('latin1'), { caller, remaining });
    return token;
  }

  revoke(token: string): void {
    this.known.delete(digestOf(token).toString('latin1'));
  }

  override async find(digests: readonly Buffer[]): Promise<ReadonlyMap<string, FoundToken>> {
    this.mostUnderWay = Math.max(this.mostUnderWay, ++this.underWay);
    try {
      await new Promise<void>((answer, fail) => {
        this.statements.push({ digests, answer, fail });
        if (this.answersAtOnce) answer();
      });
      const keys = digests.map((digest) => digest.toString('latin1'));
      return new Map(keys.flatMap((key) => (this.known.has(key) ? [[key, this.known.get(key)!]] : [])));
    } finally {
      this.underWay--;
    }
  }
}

/** Lets everything run that waits for nothing but its turn. */
const turn = () => new Promise((resolve) => setImmediate(resolve));
const newTokens = (count: number) => Array.from({ length: count }, newToken);

describe('AccessTokenVerifier', () => {
  let lookup: FakeLookup;
  let now: number;
  let verifier: AccessTokenVerifier;

  beforeEach(() => {
    lookup = new FakeLookup();
    now = 1_000_000;
    verifier = new AccessTokenVerifier(lookup, new DeclaredTokens([DECLARED], SCOPES), 10_000, () => now);
  });

  it('gives the caller of a known token', async () => {
    expect(await verifier.verify(lookup.add())).toEqual({ id: 'id-0', scopes: ['time-logs:read'] });
  });

  it('gives nothing for an unknown token', async () => {
    expect(await verifier.verify(newToken())).toBeUndefined();
    expect(lookup.statements).toHaveLength(1);
  });

  it('asks nobody about a declared token or a text that is none of our tokens', async () => {
    expect(await verifier.verify(DECLARED)).toMatchObject({ scopes: SCOPES });
    for (const text of ['', 'x', `${newToken()}x`, DECLARED.toUpperCase()]) {
      expect(await verifier.verify(text)).toBeUndefined();
    }
    expect(lookup.statements).toEqual([]);
  });

  describe('remembers a verdict', () => {
    it('that is good for 4 seconds, so that a revocation holds within 5', async () => {
      const token = lookup.add();
      await verifier.verify(token);
      lookup.revoke(token);
      now += 3_999;
      expect(await verifier.verify(token)).toBeDefined();
      now += 1;
      expect(await verifier.verify(token)).toBeUndefined();
      expect(lookup.statements).toHaveLength(2);
    });

    it('that is bad for 4 seconds', async () => {
      const token = newToken();
      await verifier.verify(token);
      now += 3_999;
      await verifier.verify(token);
      expect(lookup.statements).toHaveLength(1);
      now += 1;
      await verifier.verify(token);
      expect(lookup.statements).toHaveLength(2);
    });

    it('no longer than the token itself is good', async () => {
      const token = lookup.add(1_500);
      expect(await verifier.verify(token)).toBeDefined();
      lookup.revoke(token);
      now += 1_499;
      expect(await verifier.verify(token)).toBeDefined();
      now += 1;
      expect(await verifier.verify(token)).toBeUndefined();
    });

    it('from the start of the statement, not from its answer', async () => {
      lookup.answersAtOnce = false;
      const token = lookup.add();
      const first = verifier.verify(token);
      await turn();
      now += 3_000;
      lookup.statements[0]!.answer();
      await first;
      now += 1_000;
      lookup.answersAtOnce = true;
      await verifier.verify(token);
      expect(lookup.statements).toHaveLength(2);
    });

    it('under a flood of unknown tokens too, which push out no known one', async () => {
      const known = lookup.add();
      await verifier.verify(known);
      for (let i = 0; i < 11; i++) await Promise.all(newTokens(1_000).map((token) => verifier.verify(token)));
      const asked = lookup.statements.length;
      expect(await verifier.verify(known)).toBeDefined();
      expect(lookup.statements).toHaveLength(asked);
    });
  });

  describe('asks', () => {
    it('once for all who wait for one token', async () => {
      const token = lookup.add();
      const principals = await Promise.all(Array.from({ length: 100 }, () => verifier.verify(token)));
      expect(principals.every((caller) => caller?.id === 'id-0')).toBe(true);
      expect(lookup.statements).toHaveLength(1);
    });

    it('one statement at a time, for at most 500 tokens, each token once', async () => {
      const tokens = newTokens(1_200);
      await Promise.all(tokens.map((token) => verifier.verify(token)));
      expect(lookup.mostUnderWay).toBe(1);
      const sizes = lookup.statements.map(({ digests }) => digests.length);
      expect(Math.max(...sizes)).toBe(500);
      expect(sizes.length).toBeLessThanOrEqual(4);
      const asked = lookup.statements.flatMap(({ digests }) =>
        digests.map((digest) => digest.toString('hex')),
      );
      expect(asked.sort()).toEqual(tokens.map((token) => digestOf(token).toString('hex')).sort());
    });

    it('and gives each its own verdict', async () => {
      const known = Array.from({ length: 700 }, () => lookup.add());
      const mixed = known.flatMap((token) => [token, newToken()]);
      const principals = await Promise.all(mixed.map((token) => verifier.verify(token)));
      expect(principals.map((caller) => caller?.id)).toEqual(
        known.flatMap((_token, index) => [`id-${index}`, undefined]),
      );
    });

    it('only so much at a time: beyond it answers SERVICE_UNAVAILABLE', async () => {
      lookup.answersAtOnce = false;
      const begun = newTokens(5_001).map((token) => verifier.verify(token));
      await expect(verifier.verify(newToken())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(await verifier.verify(DECLARED)).toBeDefined();
      lookup.answersAtOnce = true;
      lookup.statements[0]!.answer();
      expect((await Promise.all(begun)).every((caller) => caller === undefined)).toBe(true);
      expect(await verifier.verify(lookup.add())).toBeDefined();
    });
  });

  it('tells how many verdicts it remembers, and how often one was and was not', async () => {
    const [known, unknown] = [lookup.add(), newToken()];
    await Promise.all([verifier.verify(known), verifier.verify(known), verifier.verify(unknown)]);
    expect(verifier.cache).toEqual({ size: 2, hits: 0, misses: 3 });
    for (const token of [known, unknown, DECLARED, 'x']) await verifier.verify(token);
    expect(verifier.cache).toEqual({ size: 2, hits: 2, misses: 3 });
  });

  it('remembers a bounded number of unknown tokens', async () => {
    verifier = new AccessTokenVerifier(lookup, new DeclaredTokens([], SCOPES), 1_000, () => now);
    const tokens = newTokens(2_000);
    for (let i = 0; i < tokens.length; i += 100) {
      await Promise.all(tokens.slice(i, i + 100).map((token) => verifier.verify(token)));
    }
    const asked = lookup.statements.flatMap(({ digests }) => digests).length;
    expect(asked).toBe(2_000);
    // What is remembered is not asked for again.
    for (let i = tokens.length - 1; i >= 0; i -= 100) {
      await Promise.all(tokens.slice(i - 99, i + 1).map((token) => verifier.verify(token)));
    }
    const askedAgain = lookup.statements.flatMap(({ digests }) => digests).length - asked;
    expect(askedAgain).toBeGreaterThanOrEqual(1_000);
  });

  describe('where a lookup fails', () => {
    beforeEach(() => {
      lookup.answersAtOnce = false;
    });

    it('rejects those who wait for it, and nobody else', async () => {
      const first = verifier.verify(lookup.add());
      const second = verifier.verify(lookup.add());
      const failure = expect(first).rejects.toThrow('away');
      lookup.statements[0]!.fail(new Error('away'));
      await failure;
      lookup.statements[1]!.answer();
      expect(await second).toBeDefined();
    });

    it('remembers nothing', async () => {
      const token = lookup.add();
      const failure = expect(verifier.verify(token)).rejects.toThrow('away');
      lookup.statements[0]!.fail(new Error('away'));
      await failure;
      lookup.answersAtOnce = true;
      expect(await verifier.verify(token)).toBeDefined();
      expect(lookup.statements).toHaveLength(2);
    });

    it('goes on where it throws at once', async () => {
      const find = lookup.find.bind(lookup);
      lookup.find = () => {
        throw new Error('at once');
      };
      await expect(verifier.verify(lookup.add())).rejects.toThrow('at once');
      lookup.find = find;
      lookup.answersAtOnce = true;
      expect(await verifier.verify(lookup.add())).toBeDefined();
    });
  });
});
