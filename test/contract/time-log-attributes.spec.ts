import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  type Attributes,
  type AttributeValues,
  normalizedValues,
  PageRequest,
  Period,
  TimeLog,
  type TimeLogValues,
} from '../../src/time-log/index.js';
import type { TimeLogEvent } from '../../src/feed/index.js';
import { CSV_COLUMNS, EXPORT_FORMATS, ExportService } from '../../src/export/index.js';
import { eventually } from '../support/eventually.js';
import { LONG_TEXTS, newLog, NUMBERS, recordOnce, TEXTS } from './sample-logs.js';
import { compareExport } from './compare-export.js';
import { compareChanges, compareReads, newLogs, ONE, OTHER, plainTotals } from './compare-reads.js';
import { ALL_PROJECTS, ANY_ATTRIBUTES, useStore } from '../support/storage.js';

const PAGE = PageRequest.of(1, 50);

const SAMPLES: readonly [string, Attributes][] = [
  ['empty attributes', {}],
  ['texts', { texts: [...TEXTS, ...LONG_TEXTS] }],
  ['names', Object.fromEntries(TEXTS.map((text, index) => [text, index]))],
  ['numbers', { numbers: [...NUMBERS, 0, -1, -1e300] }],
  [
    'other JSON values',
    { yes: true, no: false, none: null, list: [[], {}, [null, [1]]], in: { in: { in: {} } } },
  ],
];

const ODD_NAME = `'"\\ $1`;
const ODD_TEXT = `'; -- "\\u0000" 😀`;
/** The attributes of logs that are filtered. */
const FILTERED = [
  undefined,
  {},
  { user: 'ada', rate: 1.5, billable: true },
  { user: 'ada', rate: 2, billable: false },
  { user: 'bob', rate: 1.5, more: { user: 'ada' } },
  { user: ['ada'], rate: '1.5', billable: 'true' },
  { user: 1, billable: null, [ODD_NAME]: ODD_TEXT },
  { user: 'x'.repeat(5_000), [ODD_NAME]: '' },
];
/** The attributes of a filter, and those of an access. */
const FILTERS: [AttributeValues | undefined, AttributeValues | undefined][] = [
  [{ user: 'ada' }, undefined],
  [{ user: 'ada', billable: true }, undefined],
  [{ user: '1' }, undefined],
  [{ [ODD_NAME]: ODD_TEXT }, undefined],
  [undefined, { user: 'ada' }],
  [{ rate: 1.5 }, { user: 'ada' }],
  [{ user: 'ada' }, { user: 'ada' }],
  [{ user: 'bob' }, { user: 'ada' }],
];

describe('attributes in the store', () => {
  const store = useStore(ANY_ATTRIBUTES);

  const corrected = (log: TimeLog, attributes?: Attributes, values?: Partial<TimeLogValues>) =>
    TimeLog.of({ ...normalizedValues(log), ...values, attributes }, log.id);
  const logsOf = async ({ projectId }: TimeLog) =>
    (await store.repository.find({ projectIds: [projectId], period: Period.of() }, PAGE, ALL_PROJECTS)).logs;
  /** Resolves when the feed has exactly one event of the log, with this type and its values. */
  const published = async (log: TimeLog, type: TimeLogEvent['type']) => {
    await eventually(async () => {
      const events = await store.feed.eventsAfter(undefined, 1000);
      expect(
        events.filter((event) => event.log.id === log.id).map((event) => [event.type, event.log]),
      ).toEqual([[type, log]]);
    });
  };

  it.each(EXPORT_FORMATS)('exports attributes as in JSON, in %s', async (format) => {
    const projectId = randomUUID();
    const samples = [undefined, ...SAMPLES.map(([, attributes]) => attributes)];
    const logs: TimeLog[] = [];
    for (const attributes of samples) {
      const log = newLog({ projectId, attributes });
      await store.repository.record([log]);
      logs.push((await store.repository.get(log.id, ALL_PROJECTS))!);
    }
    const exports = new ExportService(store.exports, ANY_ATTRIBUTES);
    await compareExport(exports, projectId, logs, format, [...CSV_COLUMNS, 'attributes']);
  });

  it.each(SAMPLES)('keeps %s unchanged', async (_what, attributes) => {
    const log = newLog({ attributes });
    await store.repository.record([log]);
    expect(await store.repository.get(log.id, ALL_PROJECTS)).toEqual(log);
    expect((await store.repository.get(log.id, ALL_PROJECTS))!.attributes).toEqual(attributes);
    expect(await logsOf(log)).toEqual([log]);
    await published(log, 'created');
  });

  it('corrects attributes, also alone, and publishes the correction', async () => {
    const log = newLog({ attributes: { a: 1 } });
    await store.repository.record([log]);
    let stored = log;
    for (const attributes of [{ a: 2 }, { a: 2, b: {} }, undefined, {}]) {
      const correction = corrected(log, attributes);
      expect(await store.repository.correct(correction, ALL_PROJECTS, undefined, stored)).toEqual(correction);
      await expect(
        store.repository.correct(correction, ALL_PROJECTS, undefined, stored),
      ).rejects.toMatchObject({
        code: 'PRECONDITION_FAILED',
      });
      expect(await store.repository.get(log.id, ALL_PROJECTS)).toEqual(correction);
      await published(correction, 'corrected');
      stored = correction;
    }
  });

  it('keeps attributes that a correction without an expected log lacks', async () => {
    const log = newLog({ attributes: { a: 1, b: { c: [1] } } });
    await store.repository.record([log]);
    const correction = corrected(log, undefined, { duration: 2 });
    const stored = corrected(log, log.attributes, { duration: 2 });
    expect(await store.repository.correct(correction, ALL_PROJECTS)).toEqual(stored);
    expect(await store.repository.get(log.id, ALL_PROJECTS)).toEqual(stored);
    await published(stored, 'corrected');
    expect(await store.repository.correct(corrected(log, {}), ALL_PROJECTS)).toEqual(corrected(log, {}));
  });

  it('publishes no correction that changes nothing, whatever the order of properties', async () => {
    const log = newLog({ attributes: { a: 1, b: { c: [1, 2], d: null } } });
    await store.repository.record([log]);
    const same = { b: { d: null, c: [1, 2] }, a: 1.0 };
    expect(await store.repository.correct(corrected(log, same), ALL_PROJECTS)).toEqual(log);
    expect(await store.repository.correct(corrected(log), ALL_PROJECTS)).toEqual(log);
    const last = newLog();
    await store.repository.record([last]);
    await published(last, 'created');
    await published(log, 'created');
  });

  it('adds a log once per key, and rejects the key with other attributes', async () => {
    const projectId = randomUUID();
    const logWith = (attributes?: Attributes) => newLog({ projectId, attributes });
    const key = { caller: randomUUID(), text: 'key' };
    const first = logWith({ a: 1, b: 2 });
    expect(await recordOnce(store.repository, first, key)).toBe(first.id);
    expect(await recordOnce(store.repository, logWith({ b: 2, a: 1 }), key)).toBe(first.id);
    for (const other of [undefined, {}, { a: 1 }, { a: 1, b: '2' }, { a: 1, b: 2, c: null }]) {
      await expect(recordOnce(store.repository, logWith(other), key)).rejects.toMatchObject({
        code: 'IDEMPOTENCY_KEY_REUSED',
      });
    }
    expect(await store.repository.get(first.id, ALL_PROJECTS)).toEqual(first);
  });

  const filtered = newLogs(FILTERED);
  beforeAll(async () => {
    for (const log of filtered) await store.repository.record([log]);
  });
  it.each(FILTERS)('reads the logs with the attributes %j within an access to %j', async (own, bound) => {
    await compareReads(store, filtered, own, bound);
  });
  it.each<[string, readonly string[] | undefined, AttributeValues | undefined, boolean]>([
    ['other values', undefined, { user: 'bob' }, false],
    ['no values', undefined, undefined, false],
    ['its values', undefined, { user: 'ada', rate: 3 }, true],
    ['its values in another project', [OTHER], { user: 'ada' }, false],
    ['its values in its project', [ONE], { user: 'ada' }, true],
  ])(
    'within an access to attributes, gets, corrects and deletes a log with %s only if it may',
    async (_what, projects, attributes, isVisible) => {
      const access = { projects, attributes: { user: 'ada' } };
      await compareChanges(store, access, isVisible, { projectId: ONE, attributes });
    },
  );
});

/** The projects of a filter, and the attributes of an access. */
interface SomeLogs {
  readonly projectIds?: readonly string[];
  readonly attributes?: AttributeValues;
}

/**
 * A hundred logs a day, 80 of them with the attributes of the filter: these are 24,000 in all, as many as the index of
 * attributes finds while 4,800 are read by date.
 */
describe('the logs of a period of 30,000 logs', () => {
  const store = useStore(ANY_ATTRIBUTES);
  beforeAll(async () => {
    await store.dataSource.query(
      `insert into time_logs (id, project_id, duration, description, date, attributes)
       select ('019c1370-4e1b-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, case n % 10 when 9 then $2 else $1 end::uuid,
              n % 7 + 1, '', date '2026-01-01' + n / 100,
              case n % 10 when 9 then null when 8 then '{"user": ["ada"], "team": 1}' else '{"user": "ada", "team": 1}' end::jsonb
         from generate_series(0, 29999) n`,
      [ONE, OTHER],
    );
  });

  it.each<[string, 'by date' | 'by attributes', string, string, SomeLogs]>([
    ['47 days', 'by date', '2026-01-30', '2026-03-17', {}],
    ['48 days', 'by attributes', '2026-01-30', '2026-03-18', {}],
    ['a day', 'by date', '2026-02-01', '2026-02-01', {}],
    ['days with and without logs', 'by date', '2025-01-01', '2026-01-03', {}],
    ['days without logs', 'by attributes', '2025-01-01', '2025-12-31', {}],
    ['all days', 'by attributes', '2025-01-01', '2027-12-31', {}],
    ['days of a project', 'by date', '2026-02-01', '2026-02-03', { projectIds: [ONE] }],
    ['days of a project without any', 'by attributes', '2026-02-01', '2026-02-03', { projectIds: [OTHER] }],
    ['days of projects', 'by attributes', '2026-02-01', '2026-02-03', { projectIds: [ONE, OTHER] }],
    ['days of a bound caller', 'by date', '2026-02-01', '2026-02-03', { attributes: { team: 1 } }],
    ['days of another one', 'by attributes', '2026-02-01', '2026-02-03', { attributes: { team: 2 } }],
  ])('of %s are exact, and read %s', async (_what, way, from, to, { projectIds, attributes }) => {
    const filter = { projectIds, period: Period.of(from, to), attributes: { user: 'ada' } };
    const matching = `attributes ->> 'user' = 'ada' and (attributes -> 'team')::integer = $1
      and project_id = any($2) and to_char(date, 'YYYY-MM-DD') between $3 and $4`;
    const parameters = [attributes?.team ?? 1, projectIds ?? [ONE, OTHER], from, to];
    const expected = await store.dataSource.query<{ id: string }[]>(
      `select id from time_logs where ${matching} order by date desc, id desc`,
      parameters,
    );
    const sent = jest.spyOn(store.dataSource.logger, 'logQuery');
    const { logs, total } = await store.repository.find(filter, PageRequest.of(2, 70), { attributes });
    expect(logs.map(({ id }) => id)).toEqual(expected.slice(70, 140).map(({ id }) => id));
    expect(total).toBe(expected.length);
    const totals = await store.totals.totals(filter, 'day', PAGE, { attributes });
    const statements = sent.mock.calls.map(([sql]) => sql).filter((sql) => sql.startsWith('with'));
    sent.mockRestore();
    expect(statements.map((sql) => (sql.includes('is true') ? 'by date' : 'by attributes'))).toEqual([
      way,
      way,
    ]);
    expect(totals).toEqual(
      await plainTotals(store.dataSource, [matching, parameters], filter.period, 'day', PAGE),
    );
  });
});
