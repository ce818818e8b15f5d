import { beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { claimOf, projectsOf, scopesOf } from './claims.js';

const CLAIM = 'https://issuer.example/projects';
const [ONE, TWO] = ['abcdefab-cdef-4abc-8def-abcdefabcdef', '11111111-1111-1111-1111-111111111111'];

it.each([
  [{ [CLAIM]: 1, https: {} }, CLAIM, 1],
  [{ 'a.b': 1, a: { b: 2 } }, 'a.b', 1],
  [{ a: { 'b.c': { d: 1 } } }, 'a.b.c.d', 1],
  [{ a: { b: {}, 'b.c': { d: 1 } } }, 'a.b.c.d', 1],
  [{ 'a.b': { c: 1 }, a: null }, 'a.b.c', 1],
  [{ a: [{ b: 1 }] }, 'a.b', undefined],
  [{ a: {} }, 'a.constructor.name', undefined],
  [{}, '__proto__', undefined],
  [{ a: 1 }, 'a.', undefined],
])('claimOf finds in %j the claim %j: %j', (claims, path, value) => {
  expect(claimOf(claims, path)).toEqual(value);
});

describe('scopesOf', () => {
  it.each([
    [{ scope: ' read  write ' }, ['read', 'write']],
    [{ scp: ['read', 'write'] }, ['read', 'write']],
    [{ scope: 'read', scp: ['write'] }, ['read']],
    [{ scp: ['read', 1, null, '', { a: 1 }] }, ['read']],
    // A claim that is empty or of another form has no scopes, so the next one is used.
    ...[' ', [], [1, null], null, { read: true }].map(
      (scope) => [{ scope, scp: ['write'] }, ['write']] as const,
    ),
    [{}, []],
  ])('finds in %j by default: %j', (claims, scopes) => {
    expect(scopesOf(claims, ['scope', 'scp'], '')).toEqual(scopes);
  });

  it.each([
    ['https://api.example/time-logs:read openid', ['time-logs:read', 'openid']],
    ['x-https://api.example/time-logs:read', ['x-https://api.example/time-logs:read']],
    ['https://api.example/https://api.example/a', ['https://api.example/a']],
  ])('removes a prefix from %j: %j', (scope, scopes) => {
    expect(scopesOf({ scope }, ['scope'], 'https://api.example/')).toEqual(scopes);
  });
});

describe('projectsOf', () => {
  let lines: unknown[];
  beforeEach(() => {
    lines = [];
    Logger.overrideLogger({ debug: (line) => lines.push(line), log: fail, warn: fail, error: fail });
  });
  const fail = () => {
    throw new Error('logs only at debug');
  };

  it.each([
    ['its projects, in lower case', [ONE.toUpperCase(), TWO, ONE], [ONE, TWO]],
    ['all projects', ['*'], undefined],
    ['no projects', [], []],
  ])('returns %s', (_what, claim, projects) => {
    expect(projectsOf({ [CLAIM]: claim }, CLAIM)).toEqual(projects);
    expect(projectsOf({ a: { b: claim } }, 'a.b')).toEqual(projects);
    expect(lines).toEqual([]);
  });

  it.each([
    [undefined, 'is missing'],
    [[ONE, '*'], 'contains a value that is not a UUID'],
  ])('returns no projects for %j, and logs why', (claim, reason) => {
    expect(projectsOf({ [CLAIM]: claim, projects: [ONE] }, CLAIM)).toEqual([]);
    expect(lines).toEqual([`a caller is bound to no project: the claim ${CLAIM} ${reason}`]);
  });

  it('returns all projects if no claim is set', () => {
    expect(projectsOf({ projects: [ONE], [CLAIM]: [ONE] }, undefined)).toBeUndefined();
  });
});
