import { describe, expect, it } from '@jest/globals';
import { hasTokenForm, newToken } from './access-token.js';

describe('newToken', () => {
  it('is tl_ and 256 bits in base64url', () => {
    const token = newToken();
    expect(token).toMatch(/^tl_[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(token.slice(3), 'base64url')).toHaveLength(32);
    expect(hasTokenForm(token)).toBe(true);
  });
});

describe('hasTokenForm', () => {
  const random = 'A'.repeat(43);

  it.each(
    [
      ['', random, `TL_${random}`, `tl-${random}`, `tl_${random}A`, `tl_${random.slice(1)}`],
      [`tl_${random.slice(1)}=`, `tl_${random.slice(1)}+`, `tl_${random.slice(1)}é`, ` tl_${random}`],
      [`tl_${random}\n`],
    ].flat(),
  )('rejects %p', (text) => {
    expect(hasTokenForm(text)).toBe(false);
  });
});
