import { describe, expect, it } from '@jest/globals';
import { type Principal, TokenVerifier } from '../../auth/src/index.js';
import { ByFormVerifier } from './by-form.verifier.js';

class Recorder extends TokenVerifier {
  readonly asked: string[] = [];

  override async verify(token: string): Promise<Principal | undefined> {
    this.asked.push(token);
    return undefined;
  }
}

describe('ByFormVerifier', () => {
  const askedOf = async (token: string) => {
    const [jwts, others] = [new Recorder(), new Recorder()];
    await new ByFormVerifier(jwts, others).verify(token);
    return [jwts.asked, others.asked];
  };

  it.each(['a.b.c', 'eyJhbGciOiJub25lIn0.e30.', 'A-_9.A-_9.A-_9'])(
    'asks the first alone about %s',
    async (token) => {
      expect(await askedOf(token)).toEqual([[token], []]);
    },
  );

  it.each([
    ...['', '.', '..', 'a..c', '.b.c', 'a.b', 'a.b.c.d', 'a.b.c.d.e', 'a.b.c=', 'a+b.c.d', 'a.b/c.d'],
    ...['a.b.c\n', 'a. b.c', `tl_${'A'.repeat(43)}`, 'declared+token/of.32~characters_2=='],
  ])('asks the second alone about %j', async (token) => {
    expect(await askedOf(token)).toEqual([[], [token]]);
  });
});
