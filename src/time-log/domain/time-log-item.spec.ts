import { expect, it } from '@jest/globals';
import { expectedItem } from '../../../test/support/expected-logs.js';
import { itemsOf } from './time-log-item.js';
import { TimeLog } from './time-log.js';

const id = '019c1363-4a3b-7c4e-9b1d-2f6a8e3c5d70';
const values = { projectId: id, duration: 1, description: 'a "b"', date: '2026-01-31' };
const createdAt = '2026-01-31T09:30:00.123Z';

it.each([{}, { attributes: { ticket: 'a "b"' } }])(
  'an item has the listed values of a log with %j',
  (more) => {
    const log = Object.assign(TimeLog.record({ ...values, ...more }, id), { secret: 1 });
    const [item] = itemsOf([log]);
    expect(JSON.parse(item!)).toEqual(expectedItem({ ...values, ...more }, { id, createdAt }));
  },
);
