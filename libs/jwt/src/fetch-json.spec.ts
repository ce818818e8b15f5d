import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Issuer, MISBEHAVIOURS } from '../../../test/support/issuer.js';
import { fetchJson } from './fetch-json.js';

describe('fetchJson', () => {
  let issuer: Issuer;
  beforeAll(async () => {
    issuer = await Issuer.start();
  });
  afterAll(() => issuer.close());

  async function failure(url = issuer.settings.jwksUrl): Promise<string> {
    const begun = performance.now();
    const [outcome] = await Promise.allSettled([fetchJson(url)]);
    expect(performance.now() - begun).toBeLessThan(3_000);
    return outcome.status === 'rejected' ? (outcome.reason as Error).message : 'none';
  }

  it('gives what is there', async () => {
    expect(await fetchJson(issuer.settings.jwksUrl)).toEqual({ keys: [] });
  });

  it.each([
    ['answers garbage', 'the answer is no JSON'],
    ['answers 500', 'the answer is 500, not 200'],
    ['answers 204', 'the answer is 204, not 200'],
    ['leads elsewhere', 'the answer is 302, not 200'],
    ['hangs up', 'UND_ERR_SOCKET'],
    ['never answers', 'no answer within 2000 ms'],
    ['never ends its answer', 'no answer within 2000 ms'],
    ['answers without end', 'the answer has more than 262144 bytes'],
  ])('says why there is nothing, from one that %s', async (what, reason) => {
    issuer.misbehaviour = MISBEHAVIOURS[what]!;
    expect(await failure()).toBe(reason);
  });

  it('takes an answer of 256 KiB, and counts it decompressed', async () => {
    const text = JSON.stringify('x'.repeat(262_142));
    issuer.misbehaviour = (_request, response) => response.end(text);
    expect(await fetchJson(issuer.settings.jwksUrl)).toHaveLength(262_142);
    issuer.misbehaviour = (_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(`${text} `));
    expect(await failure()).toBe('the answer has more than 262144 bytes');
  });

  it('names what happened to the connection', async () => {
    expect(await failure(issuer.settings.jwksUrl.replace('http:', 'https:'))).toMatch(/SSL/);
    const away = await Issuer.start();
    await away.close();
    expect(await failure(away.settings.jwksUrl)).toBe('ECONNREFUSED');
  });
});
