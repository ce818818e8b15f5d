import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from './canonical-text.js';
import { fingerprintOf, fingerprintOfAll } from './idempotency-key.js';
import { TIME_LOG_FIELDS } from './time-log.js';

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
