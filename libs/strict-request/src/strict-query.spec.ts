import { describe, expect, it } from '@jest/globals';
import { refuseQuery } from './strict-body.js';
import { readQuery } from './strict-query.js';

describe('readQuery', () => {
  it.each<[string, object]>([
    ...['/path', '/path?', '', '?', '/path?&&'].map((url): [string, object] => [url, {}]),
    ['/p?a=1&b=two&c&d=', { a: '1', b: 'two', c: '', d: '' }],
    ['/p?a%20b=c%2Bd+e%20f&%C3%A9=%F0%9F%98%80', { 'a b': 'c+d e f', é: '😀' }],
    ['/p?a=%EF%BF%BD&b=%F4%8F%BF%BF&c=%EF%BB%BFx', { a: '\uFFFD', b: '\u{10FFFF}', c: '\uFEFFx' }],
    ['/p?a=b=c?d', { a: 'b=c?d' }],
    ['/p??page=1', { '?page': '1' }],
    // Brackets have no meaning.
    ['/p?a[]=1&a[b]=2&a=3', { 'a[]': '1', 'a[b]': '2', a: '3' }],
  ])('reads names and values: %s', (url, expected) => {
    const { values, repeated } = readQuery(url);
    expect([{ ...values }, [...repeated]]).toEqual([expected, []]);
  });

  it.each([...['%', '%2', '%zz', 'a%', '%ff', '%E0%A4', '%ED%A0%80', '%C0%80', '%F4%90%80%80', '%80']])(
    'reports names and values that are not UTF-8: %j',
    (text) => {
      const { values, malformed } = readQuery(`/p?a=${text}&b=1&${text}=2`);
      expect([...malformed]).toEqual(['a']);
      expect({ ...values }).toEqual({ a: '', b: '1', [text]: '2' });
    },
  );

  it('reports a parameter that occurs more than once, whatever its encoding', () => {
    const { values, repeated } = readQuery('/p?a=1&b=2&%61=3');
    expect([...repeated]).toEqual(['a']);
    expect({ ...values }).toEqual({ a: '3', b: '2' });
  });

  it('treats names of Object.prototype like any other name', () => {
    const { values, repeated } = readQuery('/p?__proto__=1&constructor=2&toString=3');
    expect(Object.entries(values)).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
      ['toString', '3'],
    ]);
    expect(repeated.size).toBe(0);
  });
});

it('refuseQuery refuses a query also if the prefix of a host has parameters', () => {
  const request = { originalUrl: '/tenants/1/time-logs', params: { tenant: '1' } };
  expect(() => refuseQuery(request)).not.toThrow();
  expect(() => refuseQuery({ ...request, originalUrl: `${request.originalUrl}?x=1` })).toThrow(
    'unknown parameter: x',
  );
});
