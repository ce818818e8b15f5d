import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { BearerStrategy, Credentials } from './bearer.strategy.js';

const ada = { id: 'ada', scopes: [] };
const verifier = { verify: () => Promise.resolve(ada) };
const authorization = 'Bearer x';
/** The number of calls. V8 fixes the size of the objects in the first few. */
const CALLS = 100;

// On Node 20 this fails with a copy made with `...`; later versions give such copies one class too.
it('gives passport objects of one hidden class, so that adding properties is fast', async () => {
  setFlagsFromString('--allow-natives-syntax');
  const haveOneClass = runInNewContext('(a, b) => %HaveSameMap(a, b)') as (a: object, b: object) => boolean;
  const strategy = new BearerStrategy({ verifier, realm: 'test' });
  const all: Credentials[] = [];
  for (let i = 0; i < CALLS; i++) {
    const credentials = new Credentials(authorization);
    all.push(credentials);
    expect(await strategy.decide(credentials)).toEqual({ error: null, caller: ada, info: undefined });
  }
  const last = all.at(-1)!;
  expect(all.slice(CALLS / 2).filter((credentials) => !haveOneClass(credentials, last))).toHaveLength(0);
});
