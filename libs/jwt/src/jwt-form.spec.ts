import { describe, expect, it } from '@jest/globals';
import { hasJwtForm } from './jwt-form.js';

describe('hasJwtForm', () => {
  it.each(['a.b.c', 'eyJhbGciOiJub25lIn0.e30.', 'A-_9.A-_9.A-_9'])('accepts %s', (token) => {
    expect(hasJwtForm(token)).toBe(true);
  });

  it.each([
    ...['', '.', '..', 'a..c', '.b.c', 'a.b', 'a.b.c.d', 'a.b.c.d.e', 'a.b.c=', 'a+b.c.d', 'a.b/c.d'],
    ...['a.b.c\n', 'a. b.c', `tl_${'A'.repeat(43)}`, 'declared+token/of.32~characters_2=='],
  ])('refuses %j', (token) => {
    expect(hasJwtForm(token)).toBe(false);
  });
});
