import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CHECKS, type Site, startProxy } from '../support/below-prefix.js';
import { useTestApp } from '../support/test-app.js';

const app = useTestApp();
let site: Site;
let proxy: Server;

beforeAll(async () => {
  const { base, server } = await startProxy(app.port);
  [site, proxy] = [{ base, token: app.token }, server];
});
afterAll(() => {
  proxy.close().closeAllConnections();
});

describe('behind a proxy that removes a prefix', () => {
  it.each(Object.entries(CHECKS))('%s', (_what, check) => check(site));

  it('nothing is served outside the prefix', async () => {
    expect((await fetch(new URL('/livez', site.base))).status).toBe(404);
  });
});
