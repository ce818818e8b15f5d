import { beforeEach, describe, expect, it } from '@jest/globals';
import { AccessTokenLookup, type FoundToken } from './access-token.lookup.js';
import { AccessTokenVerifier, DeclaredTokens } from './access-token.verifier.js';
import { digestOf, newToken } from './access-token.js';

const SCOPES = ['logs:read', 'logs:write'];
const DECLARED = 'declared-token-of-32-characters-or-more';

interface Statement {
  readonly digests: readonly Buffer[];
  readonly answer: () => void;
  readonly fail: (error: Error) => void;
}

/** Replaces the database. It answers at once, or when the test calls `answer`. */
class FakeLookup extends AccessTokenLookup {
  readonly known = new Map<string, FoundToken>();
  /** The statements that have started, in order. */
  readonly statements: Statement[] = [];
  answersAtOnce = true;
  running = 0;
  maxRunning = 0;

  constructor() {
    super(undefined as never);
  }

  /** Creates a token that is valid from now on. */
  add(remainingMs?: number): string {
    const token = newToken();
    const caller = { id: `id-${this.known.size}`, scopes: ['time-logs:read'] };
    this.known.set(digestOf(token).toString('latin1'), { caller, remainingMs });
    return token;
  }

  revoke(token: string): void {
    this.known.delete(digestOf(token).toString('latin1'));
  }

  override async find(digests: readonly Buffer[]): Promise<ReadonlyMap<string, FoundToken>> {
    this.maxRunning = Math.max(this.maxRunning, ++this.running);
    try {
      await new Promise<void>((answer, fail) => {
        this.statements.push({ digests, answer, fail });
        if (this.answersAtOnce) answer();
      });
      const keys = digests.map((digest) => digest.toString('latin1'));
      return new Map(keys.flatMap((key) => (this.known.has(key) ? [[key, this.known.get(key)!]] : [])));
    } finally {
      this.running--;
    }
  }
}

/** Resolves after all microtasks. */
const nextTick = () => new Promise((resolve) => setImmediate(resolve));
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

  it('returns the caller of a known token', async () => {
    expect(await verifier.verify(lookup.add())).toEqual({ id: 'id-0', scopes: ['time-logs:read'] });
  });

  it('does not look up a declared token or a text that is not a token', async () => {
    expect(await verifier.verify(DECLARED)).toMatchObject({ scopes: SCOPES });
    for (const text of ['', 'x', `${newToken()}x`, DECLARED.toUpperCase()]) {
      expect(await verifier.verify(text)).toBeUndefined();
    }
    expect(lookup.statements).toEqual([]);
  });

  describe('caches a verification', () => {
    it('for 4 seconds if the token is valid, so that a revocation takes effect within 5', async () => {
      const token = lookup.add();
      await verifier.verify(token);
      lookup.revoke(token);
      now += 3_999;
      expect(await verifier.verify(token)).toBeDefined();
      now += 1;
      expect(await verifier.verify(token)).toBeUndefined();
      expect(lookup.statements).toHaveLength(2);
    });

    it('for 4 seconds if the token is unknown', async () => {
      const token = newToken();
      await verifier.verify(token);
      now += 3_999;
      await verifier.verify(token);
      expect(lookup.statements).toHaveLength(1);
      now += 1;
      await verifier.verify(token);
      expect(lookup.statements).toHaveLength(2);
    });

    it('no longer than the token is valid', async () => {
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
      await nextTick();
      now += 3_000;
      lookup.statements[0]!.answer();
      await first;
      now += 1_000;
      lookup.answersAtOnce = true;
      await verifier.verify(token);
      expect(lookup.statements).toHaveLength(2);
    });

    it('during a flood of unknown tokens, which do not displace a known one', async () => {
      const known = lookup.add();
      await verifier.verify(known);
      for (let i = 0; i < 11; i++) await Promise.all(newTokens(1_000).map((token) => verifier.verify(token)));
      const count = lookup.statements.length;
      expect(await verifier.verify(known)).toBeDefined();
      expect(lookup.statements).toHaveLength(count);
    });
  });

  describe('looks up', () => {
    it('a token once for all concurrent requests', async () => {
      const token = lookup.add();
      const callers = await Promise.all(Array.from({ length: 100 }, () => verifier.verify(token)));
      expect(callers.every((caller) => caller?.id === 'id-0')).toBe(true);
      expect(lookup.statements).toHaveLength(1);
    });

    it('at most 500 tokens in a statement, one statement at a time, each token once', async () => {
      const tokens = newTokens(1_200);
      await Promise.all(tokens.map((token) => verifier.verify(token)));
      expect(lookup.maxRunning).toBe(1);
      const sizes = lookup.statements.map(({ digests }) => digests.length);
      expect(Math.max(...sizes)).toBe(500);
      expect(sizes.length).toBeLessThanOrEqual(4);
      const digests = lookup.statements.flatMap((statement) =>
        statement.digests.map((digest) => digest.toString('hex')),
      );
      expect(digests.sort()).toEqual(tokens.map((token) => digestOf(token).toString('hex')).sort());
    });

    it('a limited number of tokens, and rejects others with SERVICE_UNAVAILABLE', async () => {
      lookup.answersAtOnce = false;
      const pending = newTokens(5_001).map((token) => verifier.verify(token));
      await expect(verifier.verify(newToken())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(await verifier.verify(DECLARED)).toBeDefined();
      lookup.answersAtOnce = true;
      lookup.statements[0]!.answer();
      expect((await Promise.all(pending)).every((caller) => caller === undefined)).toBe(true);
      expect(await verifier.verify(lookup.add())).toBeDefined();
    });
  });

  it('counts the cached verifications, the hits and the misses', async () => {
    const [known, unknown] = [lookup.add(), newToken()];
    await Promise.all([verifier.verify(known), verifier.verify(known), verifier.verify(unknown)]);
    expect(verifier.cache).toEqual({ size: 2, hits: 0, misses: 3 });
    for (const token of [known, unknown, DECLARED, 'x']) await verifier.verify(token);
    expect(verifier.cache).toEqual({ size: 2, hits: 2, misses: 3 });
  });

  it('keeps a limited number of unknown tokens', async () => {
    verifier = new AccessTokenVerifier(lookup, new DeclaredTokens([], SCOPES), 1_000, () => now);
    await Promise.all(newTokens(2_000).map((token) => verifier.verify(token)));
    expect(verifier.cache).toMatchObject({ size: 1_000, misses: 2_000 });
  });

  describe('if a lookup fails', () => {
    beforeEach(() => {
      lookup.answersAtOnce = false;
    });

    it('rejects only the requests that wait for it', async () => {
      const first = verifier.verify(lookup.add());
      const second = verifier.verify(lookup.add());
      const failure = expect(first).rejects.toThrow('away');
      lookup.statements[0]!.fail(new Error('away'));
      await failure;
      lookup.statements[1]!.answer();
      expect(await second).toBeDefined();
    });

    it('caches nothing', async () => {
      const token = lookup.add();
      const failure = expect(verifier.verify(token)).rejects.toThrow('away');
      lookup.statements[0]!.fail(new Error('away'));
      await failure;
      lookup.answersAtOnce = true;
      expect(await verifier.verify(token)).toBeDefined();
      expect(lookup.statements).toHaveLength(2);
    });
  });
});

const [FIRST, SECOND] = ['first-token-of-32-characters-or-more', 'second-token-of-32-characters-or-more'];
const idOf = (tokens: DeclaredTokens, token: string) => tokens.find(digestOf(token))?.id;

describe('DeclaredTokens', () => {
  it('finds every declared token, with the scopes of declared tokens', () => {
    const tokens = new DeclaredTokens([FIRST, SECOND], SCOPES);
    for (const token of [FIRST, SECOND]) {
      expect(tokens.find(digestOf(token))?.scopes).toEqual(SCOPES);
    }
  });

  it('finds nothing else', () => {
    const tokens = new DeclaredTokens([FIRST], SCOPES);
    for (const token of [SECOND, '', FIRST.toUpperCase(), `${FIRST} `])
      expect(idOf(tokens, token)).toBeUndefined();
    expect(idOf(new DeclaredTokens([], SCOPES), FIRST)).toBeUndefined();
  });

  it('derives a stable, unique id from a token, without its text', () => {
    const tokens = new DeclaredTokens([FIRST, SECOND], SCOPES);
    const id = idOf(tokens, FIRST);
    expect(id).toMatch(/^declared:[0-9a-f]{16}$/);
    expect(id).not.toBe(idOf(tokens, SECOND));
    expect(id).toBe(idOf(new DeclaredTokens([SECOND, FIRST], SCOPES), FIRST));
  });
});
