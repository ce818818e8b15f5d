import { expect, it } from '@jest/globals';
import type { Caller } from './caller.js';
import { DelegatingVerifier } from './delegating.verifier.js';
import { TokenVerifier } from './token-verifier.js';

class Recorder extends TokenVerifier {
  readonly tokens: string[] = [];

  constructor(private readonly known: string) {
    super();
  }

  override async verify(token: string): Promise<Caller | undefined> {
    this.tokens.push(token);
    return token === this.known ? { id: token, scopes: [] } : undefined;
  }
}

it('DelegatingVerifier passes a token to the verifier of its format, and an unknown one to the first', async () => {
  const [first, second] = [new Recorder('ab'), new Recorder('bc')];
  const verifier = new DelegatingVerifier((token) => token.startsWith('a'), first, second);
  const callers = [];
  for (const token of ['ab', 'aa', 'bc', 'bb']) callers.push((await verifier.verify(token))?.id);
  expect(callers).toEqual(['ab', undefined, 'bc', undefined]);
  expect([first.tokens, second.tokens]).toEqual([
    ['ab', 'aa', 'bb'],
    ['bc', 'bb'],
  ]);
});
