import { describe, expect, it } from '@jest/globals';
import { PageRequest, Period } from '../domain/time-log-query.js';
import { pageLinks } from './list-time-logs.dto.js';
import { LargeLists, locationOf, sendList } from './responses.js';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { newGate } from '../../../test/support/gate.js';

/** Returns a response that takes everything. */
const newResponse = () =>
  Object.assign(new Writable({ write: (_piece, _encoding, done) => done() }), {
    writeHead: () => undefined,
    setHeader: () => undefined,
  }) as unknown as ServerResponse;

describe('sendList', () => {
  it.each([
    [false, 100],
    [true, 20],
  ])('forms two large lists at a time (with attributes: %s, more than %d)', async (haveAttributes, limit) => {
    const lists = new LargeLists(60_000, haveAttributes);
    const gate = newGate();
    let made = 0;
    const send = (items: number) => {
      const make = async () => {
        made++;
        await gate.opened;
        return { list: { before: '[', items: [], after: ']' }, link: '' };
      };
      return sendList(lists, {}, newResponse(), { limit: items, make });
    };
    const sent = [limit + 1, limit + 1, limit + 1, limit, limit, limit].map(send);
    await new Promise((resolve) => setImmediate(resolve));
    expect(made).toBe(5);
    gate.open();
    await Promise.all(sent);
    expect(made).toBe(6);
  });
});

const PROJECTS = ['22222222-2222-2222-2222-222222222222', '11111111-1111-1111-1111-111111111111'];
const everything = { period: Period.of() };

/** Parses the header. Returns the targets by relation. */
function links(page: PageRequest, total: number, filter: Parameters<typeof pageLinks>[0] = everything) {
  const entries = pageLinks(filter, page, total)
    .split(', ')
    .map((link) => {
      const [, target, relation] = /^<([^<>\s]+)>; rel="([a-z]+)"$/.exec(link) ?? [];
      return [relation, target] as const;
    });
  return Object.fromEntries(entries) as Record<string, string>;
}

const pagesOf = (page: number, limit: number, total: number) =>
  Object.fromEntries(
    Object.entries(links(PageRequest.of(page, limit), total)).map(([relation, target]) => [
      relation,
      Number(/page=(\d+)/.exec(target)?.[1]),
    ]),
  );

describe('pageLinks', () => {
  it.each([
    ['the only page', 1, 50, 50, { first: 1, last: 1 }],
    ['the only page of an empty list', 1, 50, 0, { first: 1, last: 1 }],
    ['the first page', 1, 50, 51, { first: 1, next: 2, last: 2 }],
    ['a page in the middle', 2, 10, 30, { first: 1, prev: 1, next: 3, last: 3 }],
    ['the last page', 3, 10, 30, { first: 1, prev: 2, last: 3 }],
    ['the page after the last', 4, 10, 30, { first: 1, prev: 3, last: 3 }],
    ['a page far after the last', 900, 10, 30, { first: 1, prev: 3, last: 3 }],
    ['a page of an empty list', 7, 10, 0, { first: 1, prev: 1, last: 1 }],
  ])('links from %s', (_what, page, limit, total, expected) => {
    expect(pagesOf(page, limit, total)).toEqual(expected);
  });

  it('writes relations and targets as in RFC 8288', () => {
    expect(pageLinks(everything, PageRequest.of(2, 10), 30)).toBe(
      [
        '<?page=1&limit=10>; rel="first"',
        '<?page=1&limit=10>; rel="prev"',
        '<?page=3&limit=10>; rel="next"',
        '<?page=3&limit=10>; rel="last"',
      ].join(', '),
    );
  });

  it.each([
    [
      'the projects and the applied days',
      { projectIds: PROJECTS, period: Period.of('2026-01-01T00:00+05:30', '2026-02-01 00:00') },
      `projectId=${PROJECTS.join()}&from=2026-01-01&to=2026-02-01`,
    ],
    ['the grouping', { period: Period.of('2026-01-01'), by: 'week' }, 'from=2026-01-01&by=week'],
    ['no open ends', { period: Period.of(undefined, '2026-02-01') }, 'to=2026-02-01'],
  ])('keeps %s', (_what, filter, query) => {
    expect(links(PageRequest.of(1, 5), 1, filter).last).toBe(`?${query}&page=1&limit=5`);
  });
});

describe('locationOf', () => {
  it.each([
    ['/api/v1/time-logs', 'time-logs/ID', '/api/v1/time-logs/ID'],
    ['/API/V1/Time-Logs', 'Time-Logs/ID', '/API/V1/Time-Logs/ID'],
    ['/api/v1/time-logs/', 'ID', '/api/v1/time-logs/ID'],
    ['/api/v1/time-logs?a=/b', 'time-logs/ID', '/api/v1/time-logs/ID'],
    ['//api/v1/time-logs', 'time-logs/ID', '//api/v1/time-logs/ID'],
    ['/work/time-logs', 'time-logs/ID', '/work/time-logs/ID'],
    ['/time-logs', 'time-logs/ID', '/time-logs/ID'],
    ['/work:logs', './work:logs/ID', '/work:logs/ID'],
    ['http://host/work/time-logs', 'time-logs/ID', '/work/time-logs/ID'],
  ])('of a log that was created at %s is %s', (originalUrl, location, path) => {
    expect(locationOf({ originalUrl }, 'ID')).toBe(location);
    // As clients see it, behind a proxy that has removed a prefix.
    const address = originalUrl.startsWith('http') ? originalUrl : `http://host${originalUrl}`;
    const prefixed = address.replace('http://host', 'http://host/tl');
    expect(new URL(location, prefixed).href).toBe(`http://host/tl${path}`);
  });
});
