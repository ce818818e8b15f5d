import { describe, expect, it } from '@jest/globals';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Application } from 'express';
import { methodsOf, preferFixedPaths, routesOf } from './routes.js';

function anApp(): Application {
  const app = new ExpressAdapter().getInstance<Application>();
  const answer = () => undefined;
  app.use('/things', answer);
  app.get('/things', answer);
  app.put('/things/:id', answer);
  app.delete('/things/:id', answer);
  app.get('/things/new', answer);
  app.all('{*path}', answer);
  return app;
}

describe('routesOf', () => {
  it('has every route, but no middleware and no wildcard', () => {
    const paths = routesOf(anApp()).map(({ path }) => path);
    expect(paths).toEqual(['/things', '/things/:id', '/things/:id', '/things/new']);
  });

  it.each([
    ['/things', ['/things']],
    ['/THINGS/', ['/things']],
    ['/things/7', ['/things/:id', '/things/:id']],
    ['/things/new', ['/things/:id', '/things/:id', '/things/new']],
    ['/things/7/8', []],
    ['/', []],
  ])('has those that match %s', (path, expected) => {
    expect(routesOf(anApp(), path).map((route) => route.path)).toEqual(expected);
  });
});

describe('preferFixedPaths', () => {
  it('keeps routes with a parameter off paths that have a route of their own', () => {
    const app = anApp();
    preferFixedPaths(app);
    expect(routesOf(app, '/things/NEW/').map(({ path }) => path)).toEqual(['/things/new']);
    expect(routesOf(app, '/things/7').map(({ path }) => path)).toEqual(['/things/:id', '/things/:id']);
    expect(routesOf(app, '/things/7/8')).toEqual([]);
  });
});

describe('methodsOf', () => {
  it('names each method once, sorted, and HEAD where there is GET', () => {
    expect(methodsOf(routesOf(anApp()))).toEqual(['DELETE', 'GET', 'HEAD', 'PUT']);
    expect(methodsOf(routesOf(anApp(), '/things/7'))).toEqual(['DELETE', 'PUT']);
    expect(methodsOf([])).toEqual([]);
  });
});
