import { expect, it } from '@jest/globals';
import { ByFormVerifier } from './by-form.verifier.js';
import type { Caller } from './caller.js';
import { TokenVerifier } from './token-verifier.js';

class Recorder extends TokenVerifier {
  readonly tokens: string[] = [];

  override async verify(token: string): Promise<Caller | undefined> {
    this.tokens.push(token);
    return undefined;
  }
}

it('ByFormVerifier passes each token to one verifier alone', async () => {
  const [first, others] = [new Recorder(), new Recorder()];
  const verifier = new ByFormVerifier((token) => token.startsWith('a'), first, others);
  for (const token of ['ab', 'bc']) await verifier.verify(token);
  expect([first.tokens, others.tokens]).toEqual([['ab'], ['bc']]);
});
