import { describe, expect, it } from '@jest/globals';
import { DeclaredTokens } from './declared-tokens.js';
import { digestOf } from './token-text.js';

const [FIRST, SECOND] = ['first-token-of-32-characters-or-more', 'second-token-of-32-characters-or-more'];
const SCOPES = ['logs:read', 'logs:write'];
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
