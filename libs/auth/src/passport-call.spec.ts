import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { BearerStrategy } from './bearer.strategy.js';
import { Credentials, PassportCall } from './passport-call.js';

const ada = { id: 'ada', scopes: [] };
const verifier = { verify: () => Promise.resolve(ada) };
const authorization = 'Bearer x';
/** V8 settles the size of the objects in the first few. */
const CALLS = 100;

class WatchedCall extends PassportCall {
  readonly seen: object[] = [];

  override handleRequest(error: unknown, caller: never, info: unknown, asked: object): never {
    this.seen.push(asked);
    return super.handleRequest(error, caller, info, asked);
  }
}

// Seen to fail with a copy made with `...`, on Node 20; later ones give such copies one hidden class too.
it('shows passport objects of one hidden class, to which it adds properties fast', async () => {
  setFlagsFromString('--allow-natives-syntax');
  const haveOneClass = runInNewContext('(a, b) => %HaveSameMap(a, b)') as (a: object, b: object) => boolean;
  const call = new WatchedCall(new BearerStrategy({ verifier, realm: 'test' }).name);
  for (let i = 0; i < CALLS; i++) {
    const verdict = await call.verdictOn(new Credentials(authorization));
    expect(verdict).toEqual({ error: null, caller: ada, info: undefined });
  }
  const last = call.seen.at(-1)!;
  const others = call.seen.slice(CALLS / 2).filter((asked) => !haveOneClass(asked, last));
  expect(others).toHaveLength(0);
});
