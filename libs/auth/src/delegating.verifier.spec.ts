import { expect, it } from '@jest/globals';
import type { Caller } from './caller.js';
import { DelegatingVerifier } from './delegating.verifier.js';
import { TokenVerifier } from './token-verifier.js';

class Recorder extends TokenVerifier {
  readonly tokens: string[] = [];

  override async verify(token: string): Promise<Caller | undefined> {
    this.tokens.push(token);
    return undefined;
  }
}

it('DelegatingVerifier passes each token to exactly one verifier', async () => {
  const [first, second] = [new Recorder(), new Recorder()];
  const verifier = new DelegatingVerifier((token) => token.startsWith('a'), first, second);
  for (const token of ['ab', 'bc']) await verifier.verify(token);
  expect([first.tokens, second.tokens]).toEqual([['ab'], ['bc']]);
});
