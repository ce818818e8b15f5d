import { describe, expect, it } from '@jest/globals';
import {
  canonicalJson,
  entityTagOf,
  entityTagsIn,
  fingerprintOf,
  fingerprintOfAll,
  isVersionIn,
} from './fingerprints.js';
import { TIME_LOG_FIELDS, TimeLog } from './time-log.js';

const values = {
  projectId: '0a000000-0000-4000-8000-000000000003',
  duration: 0.25,
  description: 'naïve – 漢字 😀',
  date: '2024-02-08',
};
/** The fingerprint that version 0.1 stored in `time_log_keys`. */
const stored = '91ef5d32b69341bbfbaa4d4fbe8b2af9cac8c42664bd000c5d95037ebeba25a4';
/** The fingerprint of the same values with an empty description. */
const EMPTY = '2c8b07fc328e6576328372f72d2618575a2200e1bc3f2909ac6eecce93764291';

describe('fingerprintOfAll', () => {
  it('differs from that of a single log, and depends on the order', () => {
    const [one, other] = [values, { ...values, duration: 1 }];
    const batches = [[one], [other], [one, other], [other, one], [one, one]];
    const fingerprints = [fingerprintOf(one), ...batches.map((batch) => fingerprintOfAll(batch))];
    expect(new Set(fingerprints).size).toBe(6);
    expect(fingerprintOfAll([{ ...one, projectId: one.projectId.toUpperCase() }])).toBe(fingerprints[1]);
  });

  it('stays the same, so that retries work across an upgrade', () => {
    expect(fingerprintOfAll([values, { ...values, description: undefined }])).toBe(
      '87de92b472cc6d6e9fd7af74986848df4c50686e9afaf31e911c96fd49e31fe4',
    );
  });
});

describe('fingerprintOf', () => {
  it.each([
    [values, stored],
    [
      {
        projectId: '0a000000-0000-4000-8000-000000000000',
        duration: 8,
        description: "O'Reilly; drop table",
        date: '2018-11-24',
      },
      '7c9f5a903c513f3d27e620ed7ea2fd485c4d925406c89fdb612e743dc8d4f069',
    ],
    [
      {
        projectId: '11111111-1111-1111-1111-111111111111',
        duration: 1e21,
        description: ' "\\\u2028😀\n ',
        date: '9999-12-31',
      },
      '418cb924587155a6ce39547567767f3378a1bb8b22ea482503f524c37ce4c095',
    ],
  ])('equals that of version 0.1: %j', (input, fingerprint) => {
    expect(fingerprintOf(input)).toBe(fingerprint);
  });

  it('treats a missing description as an empty one, as version 0.1 does', () => {
    const { projectId, duration, date } = values;
    const others = { projectId, duration, date };
    const ofEmpty = fingerprintOf({ ...others, description: '' });
    expect([fingerprintOf(others), ofEmpty]).toEqual([ofEmpty, EMPTY]);
  });

  it('does not depend on the order or spelling of values, or on other fields', () => {
    const { date, ...others } = { ...values, projectId: values.projectId.toUpperCase() };
    expect(fingerprintOf({ date, ...others })).toBe(stored);
    expect(fingerprintOf(Object.assign({ id: 'x', createdAt: 'y' }, values))).toBe(stored);
  });

  it.each([
    ['projectId', '0a000000-0000-4000-8000-000000000004'],
    ['duration', 0.25000000000000006],
    ['description', 'naïve – 漢字 😀 '],
    ['date', '2024-02-09'],
  ])('changes with %s', (name, value) => {
    expect(fingerprintOf({ ...values, [name]: value })).not.toBe(stored);
  });

  describe('with later fields', () => {
    const fault = () => undefined;
    const fields = {
      ...TIME_LOG_FIELDS,
      billable: { fault, default: false },
      urgent: { fault, default: false },
    };
    const of = (later: object) => fingerprintOf({ ...values, ...later }, fields);

    it.each([{}, { billable: false }, { billable: undefined, urgent: false }])(
      'equals that of version 0.1 if they have their defaults: %j',
      (later) => {
        expect(of(later)).toBe(stored);
      },
    );

    it('changes with each of them', () => {
      const all = [{}, { billable: true }, { urgent: true }, { billable: true, urgent: true }].map(of);
      expect(new Set(all).size).toBe(4);
      expect(of({ urgent: false, billable: true })).toBe(of({ billable: true }));
    });
  });
});

it('canonical JSON depends on the order of elements, but not of fields', () => {
  const one = canonicalJson({ a: [1, { c: 2, b: 3 }], 10: 1, 9: {} });
  expect(canonicalJson({ 9: {}, 10: 1, a: [1, { b: 3, c: 2 }] })).toBe(one);
  expect(canonicalJson({ 9: {}, 10: 1, a: [{ b: 3, c: 2 }, 1] })).not.toBe(one);
});

const id = '019c1363-4a3b-7c4e-9b1d-2f6a8e3c5d70';
const LOG = { projectId: id, duration: 0.25, description: 'naïve "漢字" 😀', date: '2024-02-08' };
const attributes = { ticket: 'OPS-1', list: [1, { b: 2, a: null }] };
const tagOf = (more: object = {}, logId = id) => entityTagOf(TimeLog.of({ ...LOG, ...more }, logId));

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
    expect(entityTagOf(Object.assign(TimeLog.of(LOG, id), { secret: 1 }))).toBe(tagOf());
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
  const log = TimeLog.of(LOG, id);
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
    const other = TimeLog.of({ ...LOG, duration: 59_083 }, id);
    expect(entityTagOf(other)).toBe('"WD3Gdu1Jmb41J8NRZWP-br"');
    expect(isVersionIn(['"WD3Gdu1Jmb41J8NRZWP-br"'], other)).toBe(true);
    expect(isVersionIn(['"WD3Gdu1Jmb41J8NRZWP"'], other)).toBe(false);
  });
});
