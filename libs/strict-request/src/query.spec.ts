import { describe, expect, it } from '@jest/globals';
import { readQuery } from './query.js';

const valuesOf = (url: string) => ({ ...readQuery(url).values });

describe('readQuery', () => {
  it.each(['/path', '/path?', '', '?', '/path?&&'])('finds nothing in %p', (url) => {
    const { values, repeated } = readQuery(url);
    expect([Object.keys(values), [...repeated]]).toEqual([[], []]);
  });

  it('reads names and values', () => {
    expect(valuesOf('/p?a=1&b=two&c&d=')).toEqual({ a: '1', b: 'two', c: '', d: '' });
  });

  it('decodes percent-encodings and takes + as a space', () => {
    expect(valuesOf('/p?a%20b=c%2Bd+e%20f&%C3%A9=%F0%9F%98%80')).toEqual({ 'a b': 'c+d e f', é: '😀' });
  });

  it('reads what is no valid percent-encoding without failing', () => {
    expect(valuesOf('/p?a=%&b=%zz&c=%ff')).toEqual({ a: '%', b: '%zz', c: '\uFFFD' });
  });

  it('keeps all that follows the first = and the first ?', () => {
    expect(valuesOf('/p?a=b=c?d')).toEqual({ a: 'b=c?d' });
    expect(valuesOf('/p??page=1')).toEqual({ '?page': '1' });
  });

  it('names a parameter that came more than once, however it was written', () => {
    const { values, repeated } = readQuery('/p?a=1&b=2&%61=3');
    expect([...repeated]).toEqual(['a']);
    expect({ ...values }).toEqual({ a: '3', b: '2' });
  });

  it('gives brackets no meaning', () => {
    const { values, repeated } = readQuery('/p?a[]=1&a[b]=2&a=3');
    expect({ ...values }).toEqual({ 'a[]': '1', 'a[b]': '2', a: '3' });
    expect(repeated.size).toBe(0);
  });

  it('takes names of Object.prototype as any other name', () => {
    const { values, repeated } = readQuery('/p?__proto__=1&constructor=2&toString=3');
    expect(Object.entries(values)).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
      ['toString', '3'],
    ]);
    expect(repeated.size).toBe(0);
  });
});
