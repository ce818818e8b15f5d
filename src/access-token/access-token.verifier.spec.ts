import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Caller, Verification } from '../../libs/auth/src/index.js';
import { AccessTokenLookup } from './access-token.lookup.js';
import { AccessTokenVerifier, DeclaredTokens } from './access-token.verifier.js';
import { digestOf, newToken } from './access-token.js';

const SCOPES = ['logs:read', 'logs:write'];
const DECLARED = 'declared-token-of-32-characters-or-more';

interface Statement {
  readonly answer: () => void;
  readonly fail: (error: Error) => void;
}

/** Replaces the database. It answers at once, or when the test calls `answer`. */
class FakeLookup extends AccessTokenLookup {
  readonly known = new Map<string, Verification>();
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

  override async find(digest: Buffer): Promise<Verification | undefined> {
    this.maxRunning = Math.max(this.maxRunning, ++this.running);
    try {
      await new Promise<void>((answer, fail) => {
        this.statements.push({ answer, fail });
        if (this.answersAtOnce) answer();
      });
      return this.known.get(digest.toString('latin1'));
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

  /** Verifies a token as the guard does. */
  const verify = async (token: string): Promise<Caller | undefined> =>
    verifier.known(token) ?? verifier.verify(token);

  it('returns the caller of a valid token, and of a known one at once', async () => {
    const token = lookup.add();
    expect(verifier.known(token)).toBeUndefined();
    const caller = await verifier.verify(token);
    expect(caller).toEqual({ id: 'id-0', scopes: ['time-logs:read'] });
    expect(verifier.known(token)).toBe(caller);
  });

  it('does not look up a declared token or a text that is not a token', async () => {
    for (let i = 0; i < 2; i++) expect(await verify(DECLARED)).toMatchObject({ scopes: SCOPES });
    for (const text of ['', 'x', `${newToken()}x`, DECLARED.toUpperCase()])
      expect(await verify(text)).toBeUndefined();
    expect(lookup.statements).toEqual([]);
  });

  describe('caches a verification', () => {
    it('for 4 seconds if the token is valid, so that a revocation takes effect within 5', async () => {
      const token = lookup.add();
      await verify(token);
      lookup.revoke(token);
      now += 4_000;
      expect(await verify(token)).toBeDefined();
      now += 1;
      expect(verifier.known(token)).toBeUndefined();
      expect(await verify(token)).toBeUndefined();
      expect(lookup.statements).toHaveLength(2);
    });

    it('no longer than the token is valid', async () => {
      const token = lookup.add(1_500);
      expect(await verify(token)).toBeDefined();
      lookup.revoke(token);
      now += 1_500;
      expect(await verify(token)).toBeDefined();
      now += 1;
      expect(await verify(token)).toBeUndefined();
    });

    it('during a flood of unknown tokens, which do not displace a known one', async () => {
      const known = lookup.add();
      await verify(known);
      for (const token of newTokens(10_001)) await verify(token);
      expect(verifier.known(known)).toBeDefined();
    });
  });

  describe('looks up', () => {
    it('a token once for all concurrent requests', async () => {
      const token = lookup.add();
      const callers = await Promise.all(Array.from({ length: 100 }, () => verify(token)));
      expect(callers.every((caller) => caller?.id === 'id-0')).toBe(true);
      expect(lookup.statements).toHaveLength(1);
    });

    it('two unknown tokens at a time, each once', async () => {
      const tokens = newTokens(50);
      await Promise.all([...tokens, ...tokens].map(verify));
      expect([lookup.maxRunning, lookup.statements.length]).toEqual([2, 50]);
    });
  });

  it('refuses unknown tokens with SERVICE_UNAVAILABLE if too many wait, and others as before', async () => {
    const known = lookup.add();
    await verify(known);
    now += 5_000;
    lookup.answersAtOnce = false;
    const waiting = newTokens(5_002).map(verify);
    await expect(verify(newToken())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    lookup.answersAtOnce = true;
    expect(await verify(known)).toBeDefined();
    expect(await verify(DECLARED)).toBeDefined();
    for (const { answer } of lookup.statements) answer();
    expect((await Promise.all(waiting)).every((caller) => caller === undefined)).toBe(true);
  });

  describe('if a lookup fails', () => {
    beforeEach(() => {
      lookup.answersAtOnce = false;
    });

    it('rejects only the requests that wait for it, and caches nothing', async () => {
      const [one, other] = [lookup.add(), lookup.add()];
      const [first, second] = [verify(one), verify(other)];
      const failure = expect(first).rejects.toThrow('away');
      await nextTick();
      lookup.statements[0]!.fail(new Error('away'));
      await failure;
      lookup.statements[1]!.answer();
      expect(await second).toBeDefined();
      lookup.answersAtOnce = true;
      expect(await verify(one)).toBeDefined();
      expect(lookup.statements).toHaveLength(3);
    });
  });
});

const [FIRST, SECOND] = ['first-token-of-32-characters-or-more', 'second-token-of-32-characters-or-more'];
const idOf = (tokens: DeclaredTokens, token: string) => tokens.find(digestOf(token))?.id;

describe('DeclaredTokens', () => {
  it('derives a stable, unique id from a token, without its text', () => {
    const tokens = new DeclaredTokens([FIRST, SECOND], SCOPES);
    const id = idOf(tokens, FIRST);
    expect(id).toMatch(/^declared:[0-9a-f]{16}$/);
    expect(id).not.toBe(idOf(tokens, SECOND));
    expect(id).toBe(idOf(new DeclaredTokens([SECOND, FIRST], SCOPES), FIRST));
  });
});
