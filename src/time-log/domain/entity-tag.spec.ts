import { describe, expect, it } from '@jest/globals';
import { entityTagOf, entityTagsIn, isVersionIn } from './entity-tag.js';
import { TimeLog } from './time-log.js';

const id = '019c1363-4a3b-7c4e-9b1d-2f6a8e3c5d70';
const values = { projectId: id, duration: 0.25, description: 'naïve "漢字" 😀', date: '2024-02-08' };
const attributes = { ticket: 'OPS-1', list: [1, { b: 2, a: null }] };
const tagOf = (more: object = {}, logId = id) => entityTagOf(TimeLog.record({ ...values, ...more }, logId));

describe('entityTagOf', () => {
  it('is the same in every version of the service', () => {
    expect([tagOf(), tagOf({ attributes })]).toEqual([
      '"cpOcUcFxjYZJ5ghcbofs-A"',
      '"dRzVMqzPqFFCsSINL_kXwV"',
    ]);
  });

  it.each([
    { projectId: '019c1363-4a3b-7c4e-9b1d-2f6a8e3c5d71' },
    { duration: 0.25000000000000006 },
    { description: '' },
    { date: '2024-02-09' },
    { attributes: undefined },
    { attributes: {} },
    { attributes: { ...attributes, list: attributes.list.toReversed() } },
  ])('changes with %j', (other) => {
    expect(tagOf({ attributes, ...other })).not.toBe(tagOf({ attributes }));
  });

  it('changes with the id, but not with the order of members or with other fields', () => {
    expect(tagOf({}, id.replace('019c', '019d'))).not.toBe(tagOf());
    const reordered = { list: [1, { a: null, b: 2 }], ticket: 'OPS-1' };
    expect(tagOf({ attributes: reordered })).toBe(tagOf({ attributes }));
    expect(entityTagOf(Object.assign(TimeLog.record(values, id), { secret: 1 }))).toBe(tagOf());
  });
});

describe('entityTagsIn', () => {
  it.each([
    [undefined, undefined],
    ['*', ['*']],
    ['"a"', ['"a"']],
    ['"a", "b,c" ,\t"d"', ['"a"', '"b,c"', '"d"']],
    ['', []],
    [', "a",,"b"', ['"a"', '"b"']],
    ['W/"b", x, *, "a", "c"d', ['W/"b"', '"a"']],
    ['"a"\u00a0', []],
  ])('reads the list %j', (header, tags) => {
    expect(entityTagsIn(header)).toEqual(tags);
  });

  it.each(['a', 'w/"a"', 'W/ "a"', "'a'", '"a', 'a"', '"a" "b"', '"a"b', '*"a"', '"a\u00a0"', '"b, "a"'])(
    'has no tag "a" in %j',
    (header) => {
      expect(entityTagsIn(header)).toBeDefined();
      expect(entityTagsIn(header)).not.toContain('"a"');
    },
  );

  it.each(['x', '"', '"a"'])('reads a million spaces in %s in linear time', (end) => {
    expect(entityTagsIn(`x${' '.repeat(1_000_000)}${end}`)).toEqual([]);
  });
});

describe('isVersionIn', () => {
  const log = TimeLog.record(values, id);
  const tag = 'cpOcUcFxjYZJ5ghcbofs-A';

  it.each([
    `"${tag}"`,
    `W/"${tag}"`,
    `"${tag}-gzip"`,
    `"${tag}-br"`,
    `"${tag}-zstd"`,
    `W/"${tag}-gzip"`,
    '*',
  ])('takes %s for the version', (form) => {
    expect(isVersionIn(['"x"', form], log)).toBe(true);
  });

  it.each([
    ...[tag, `"${tag}`, `w/"${tag}"`, `W/ "${tag}"`, `"${tag}-deflate"`, `"${tag}-gzip-br"`, `"${tag}" `],
    ...[`"-${tag}"`, `"${tag.slice(1)}"`, `"${tag.toLowerCase()}"`, '"undefined"', '""', '', '**'],
  ])('does not take %s for it', (form) => {
    expect(isVersionIn([form], log)).toBe(false);
  });

  it('does not take the end of a tag for the name of an encoding', () => {
    const other = TimeLog.record({ ...values, duration: 59_083 }, id);
    expect(entityTagOf(other)).toBe('"WD3Gdu1Jmb41J8NRZWP-br"');
    expect(isVersionIn(['"WD3Gdu1Jmb41J8NRZWP-br"'], other)).toBe(true);
    expect(isVersionIn(['"WD3Gdu1Jmb41J8NRZWP"'], other)).toBe(false);
  });
});
