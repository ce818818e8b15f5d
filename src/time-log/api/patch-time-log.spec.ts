import { describe, expect, it } from '@jest/globals';
import { faultOf } from '../../../libs/errors/src/index.js';
import { applyRules } from '../../../libs/request-state/src/index.js';
import { type Attributes, normalizedValues, TimeLog } from '../domain/time-log.js';
import { patchedValues } from './patch-time-log.js';

const id = '019c1363-4a3b-7c4e-9b1d-2f6a8e3c5d70';
const values = { projectId: id, duration: 1.5, description: 'work', date: '2026-01-31' };
const stored = { a: 'b', c: { d: 'e', f: 'g' }, list: [1, { h: null }] };

/** Patches a log of a module whose schema refuses 0. */
async function patched(patch: unknown, attributes: Attributes = stored, hasSchema = true) {
  const request = {};
  const faultsOf = async (sent: unknown) =>
    Promise.resolve(sent === 0 ? [faultOf('attributes', sent, 'type', 'must be an object')] : []);
  const accepted = { name: 'attributes', faultsOf, extend: <T>(dto: T) => dto, valueIn: () => undefined };
  const limits = { bodyLimit: 1, batchLimit: 1, deadline: 60_000 };
  applyRules(request, hasSchema ? { ...limits, addedMember: accepted } : limits);
  const log = TimeLog.of({ ...values, attributes }, id);
  return normalizedValues(await patchedValues(log, patch as object, request));
}

describe('patchedValues', () => {
  it.each<[object, object]>([
    [{}, {}],
    [
      { duration: 2, date: '2024-02-29' },
      { duration: 2, date: '2024-02-29' },
    ],
    [{ projectId: id.toUpperCase() }, {}],
    [{ description: null }, { description: '' }],
  ])('changes the values that %j has, and keeps the attributes', async (patch, changed) => {
    expect(await patched(patch)).toEqual({ ...values, attributes: stored, ...changed });
  });

  it('takes the id and the time of creation that the log has', async () => {
    const fixed = { id: id.toUpperCase(), createdAt: '2026-01-31T09:30:00.123Z' };
    expect(await patched(fixed)).toEqual({ ...values, attributes: stored });
    expect(await patched({ ...fixed, attributes: {} })).toEqual({ ...values, attributes: stored });
  });

  it('refuses attributes, also null, if there is no schema', async () => {
    for (const attributes of [{}, null])
      await expect(patched({ attributes }, undefined, false)).rejects.toThrow('unknown field: attributes');
  });

  it.each([
    [{}, stored],
    [
      { a: 'c', x: { y: null, z: 0 } },
      { ...stored, a: 'c', x: { z: 0 } },
    ],
    [
      { a: null, c: { f: null }, unknown: null },
      { c: { d: 'e' }, list: stored.list },
    ],
    [
      { c: [null], list: { a: 1 } },
      { a: 'b', c: [null], list: { a: 1 } },
    ],
    [
      JSON.parse('{"__proto__":{"x":1}}') as object,
      JSON.parse(`{"__proto__":{"x":1},${JSON.stringify(stored).slice(1)}`) as object,
    ],
  ])('merges the attributes %j', async (attributes, merged) => {
    expect(await patched({ attributes })).toEqual({ ...values, attributes: merged });
  });

  it('removes attributes if they are null', async () => {
    expect(await patched({ attributes: null })).toEqual(values);
    expect(await patched({ attributes: { a: 1 } }, {})).toEqual({ ...values, attributes: { a: 1 } });
  });

  it.each([
    [{ projectId: null }, 'projectId must be a UUID'],
    [
      { duration: null, date: null },
      'duration must be a positive number; date must be an existing day in the form YYYY-MM-DD',
    ],
    [
      { createdAt: null, bar: 2, id: null, foo: 1, description: 5 },
      'description must be a string; id must be that of the log; createdAt must be that of the log; unknown field: bar; unknown field: foo',
    ],
    [{ createdAt: '2026-01-31T09:30:00.123+00:00' }, 'createdAt must be that of the log'],
    [{ id: 7, attributes: 0 }, 'attributes must be an object; id must be that of the log'],
    [{ duration: 0, attributes: 0 }, 'duration must be a positive number; attributes must be an object'],
    [{ foo: null, attributes: null }, 'unknown field: foo'],
  ])('rejects %j', async (patch, message) => {
    await expect(patched(patch)).rejects.toMatchObject({ code: 'VALIDATION_ERROR', message });
  });
});
