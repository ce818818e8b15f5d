import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { BearerStrategy } from './bearer.strategy.js';
import { Credentials, PassportAuthenticator } from './passport-authenticator.js';

const ada = { id: 'ada', scopes: [] };
const verifier = { verify: () => Promise.resolve(ada) };
const authorization = 'Bearer x';
/** The number of calls. V8 fixes the size of the objects in the first few. */
const CALLS = 100;

class RecordingAuthenticator extends PassportAuthenticator {
  readonly seen: object[] = [];

  override handleRequest(error: unknown, caller: never, info: unknown, credentials: object): never {
    this.seen.push(credentials);
    return super.handleRequest(error, caller, info, credentials);
  }
}

// On Node 20 this fails with a copy made with `...`; later versions give such copies one class too.
it('gives passport objects of one hidden class, so that adding properties is fast', async () => {
  setFlagsFromString('--allow-natives-syntax');
  const haveOneClass = runInNewContext('(a, b) => %HaveSameMap(a, b)') as (a: object, b: object) => boolean;
  const authenticator = new RecordingAuthenticator(new BearerStrategy({ verifier, realm: 'test' }).name);
  for (let i = 0; i < CALLS; i++) {
    const result = await authenticator.authenticate(new Credentials(authorization));
    expect(result).toEqual({ error: null, caller: ada, info: undefined });
  }
  const last = authenticator.seen.at(-1)!;
  const others = authenticator.seen.slice(CALLS / 2).filter((seen) => !haveOneClass(seen, last));
  expect(others).toHaveLength(0);
});
