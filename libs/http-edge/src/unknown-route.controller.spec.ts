import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Application, RequestHandler } from 'express';
import { methodsOf, preferFixedPaths, routesOf } from './unknown-route.controller.js';

function createApp(): Application {
  const app = new ExpressAdapter().getInstance<Application>();
  const respond =
    (text: string): RequestHandler =>
    (_request, response) =>
      void response.send(text);
  app.use('/things', (_request, _response, next) => next());
  app.get('/things', respond('fixed'));
  app.put('/things/:id', respond('parameter'));
  app.delete('/things/:id', respond('parameter'));
  app.get('/things/new', respond('fixed'));
  app.all('{*path}', respond('unknown'));
  return app;
}

describe('routesOf', () => {
  it('returns every route, but no middleware and no wildcard', () => {
    const paths = routesOf(createApp()).map(({ path }) => path);
    expect(paths).toEqual(['/things', '/things/:id', '/things/:id', '/things/new']);
  });

  it.each([
    ['/things', ['/things']],
    ['/THINGS/', ['/things']],
    ['/things/NEW/', ['/things/new']],
    ['/things/7/', ['/things/:id', '/things/:id']],
    ['/things//', []],
    ['/', []],
  ])('returns the routes that match %s', (path, expected) => {
    expect(routesOf(createApp(), path).map((route) => route.path)).toEqual(expected);
  });
});

describe('preferFixedPaths', () => {
  const app = createApp();
  preferFixedPaths(app);
  const server = createServer(app);
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => {
    server.close();
  });

  it.each([
    ['PUT', '/things/7', 'parameter'],
    ['PUT', '/things/NEW/', 'unknown'],
    ['GET', '/things/new', 'fixed'],
    ['PUT', '/things/new/8', 'unknown'],
  ])('routes %s %s to the right handler: %s', async (method, path, expected) => {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    expect(await response.text()).toBe(expected);
  });
});

describe('methodsOf', () => {
  it('returns each method once, sorted, and HEAD if there is GET', () => {
    expect(methodsOf(routesOf(createApp()))).toEqual(['DELETE', 'GET', 'HEAD', 'PUT']);
    expect(methodsOf(routesOf(createApp(), '/things/7'))).toEqual(['DELETE', 'PUT']);
    expect(methodsOf([])).toEqual([]);
  });
});
