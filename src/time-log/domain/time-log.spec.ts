import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isoText, TimeLog, type TimeLogValues } from './time-log.js';
import { expectedValues } from '../../../test/support/expected-logs.js';

const ID = '019c1370-4e1b-7abc-8def-0123456789ab';
const INSTANT = Date.UTC(2026, 0, 31, 9, 30, 0, 123);

const values: TimeLogValues = {
  projectId: '11111111-1111-1111-1111-111111111111',
  duration: 1.5,
  description: ' kept as it is ',
  date: '2026-01-31',
};

const idAt = (milliseconds: number) => {
  const hex = milliseconds.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8def-0123456789ab`;
};

describe('TimeLog.of', () => {
  it('treats a missing description as an empty one', () => {
    const { projectId, duration, date } = values;
    const others = { projectId, duration, date };
    const empty = { id: ID, ...expectedValues({ ...values, description: '' }) };
    expect(TimeLog.of(others, ID)).toEqual(empty);
    expect(TimeLog.of(Object.assign({}, values, { description: undefined }), ID)).toEqual(empty);
  });

  it('reports every invalid value, in the order of the fields', () => {
    const record = () => TimeLog.of({ date: '', description: '\0', duration: -1, projectId: '' }, ID);
    const message =
      'projectId must be a UUID; duration must be a positive number; description must not contain U+0000; ' +
      'date must be an existing day in the form YYYY-MM-DD';
    expect(record).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR', message }));
  });
});

describe('TimeLog.createdAt', () => {
  it.each([0, 1, 0x0123_4567_89ab, INSTANT, 2 ** 48 - 1])('is the instant %i inside the id', (instant) => {
    expect(TimeLog.of(values, idAt(instant)).createdAt.getTime()).toBe(instant);
  });
});

describe('a TimeLog as JSON', () => {
  it('has the selected columns, even without the id', () => {
    const part = Object.assign(TimeLog.blank(), { duration: 2 });
    expect(JSON.parse(JSON.stringify(part))).toEqual({ duration: 2 });
  });
});

it('instanceof accepts only logs, not even the prototype, which TypeORM checks', () => {
  const log = TimeLog.restore({ id: idAt(INSTANT), ...values });
  expect(log instanceof TimeLog).toBe(true);
  const others: unknown[] = [values, Object.create(null), TimeLog.prototype, 'text', null, undefined];
  expect(others.filter((value) => value instanceof TimeLog)).toEqual([]);
});

describe('isoText', () => {
  it('equals toISOString for every instant that an id can hold', () => {
    // 48 bits of milliseconds reach past the year 9999: those years have a sign and six digits.
    const instants = fc.array(fc.integer({ min: 0, max: 2 ** 48 - 1 }), { maxLength: 5 });
    fc.assert(
      fc.property(instants, (all) => {
        for (const milliseconds of all) {
          for (const near of [milliseconds, milliseconds + 1]) {
            expect(isoText(near)).toBe(new Date(near).toISOString());
          }
        }
      }),
    );
  });

  it.each(['1970-01-01T00:00:00.000Z', '2026-01-31T23:59:59.999Z', '2026-02-01T00:00:00.000Z'])(
    'is right at the start and end of a day: %s',
    (text) => expect(isoText(Date.parse(text))).toBe(text),
  );
});
