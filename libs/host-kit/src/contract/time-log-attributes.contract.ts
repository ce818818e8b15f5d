import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  ALL_PROJECTS,
  type Attributes,
  type AttributeValues,
  itemsOf,
  normalizedValues,
  PageRequest,
  Period,
  TimeLog,
  type TimeLogRepository,
  type TimeLogValues,
} from '../../../../src/time-log/index.js';
import type { TimeLogEvent } from '../../../../src/feed/index.js';
import { CSV_COLUMNS, EXPORT_FORMATS } from '../../../../src/export/index.js';
import {
  type ContractCase,
  type ContractOptions,
  type ContractSubject,
  ContractSuite,
  find,
} from './contract-suite.js';
import { eventually } from './eventually.js';
import { compareExport } from './export-repository.contract.js';
import { newLog } from './new-log.js';
import { LONG_TEXTS, NUMBERS, TEXTS } from './sample-values.js';
import { compareChanges, compareReads, newLogs, ONE, OTHER } from './time-log-access.contract.js';

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
  [{ rate: 1.5 }, undefined],
  [{ billable: false }, undefined],
  [{ user: 'ada', billable: true }, undefined],
  [{ user: '1' }, undefined],
  [{ [ODD_NAME]: ODD_TEXT }, undefined],
  [{ [ODD_NAME]: '' }, undefined],
  [{ missing: true }, undefined],
  [undefined, { user: 'ada' }],
  [{ rate: 1.5 }, { user: 'ada' }],
  [{ user: 'ada' }, { user: 'ada' }],
  [{ user: 'bob' }, { user: 'ada' }],
];

/** Returns the cases of attributes, for repositories whose logs have them. */
export function timeLogAttributesContract<Logs extends TimeLogRepository>({
  make,
  totalsOf,
  feedOf,
  exportOf,
}: ContractOptions<Logs>): readonly ContractCase[] {
  const suite = new ContractSuite();
  let repository: Logs;
  suite.before(async () => {
    repository = await make();
  });

  const corrected = (log: TimeLog, attributes?: Attributes, values?: Partial<TimeLogValues>) =>
    TimeLog.record({ ...normalizedValues(log), ...values, attributes }, log.id);
  const logsOf = async ({ projectId }: TimeLog) =>
    (await find(repository, { projectIds: [projectId], period: Period.of() }, PAGE, ALL_PROJECTS)).logs;
  /** Resolves when the feed has exactly one event of the log, with this type and its values. */
  const published = async (log: TimeLog, type: TimeLogEvent['type']) => {
    if (feedOf === undefined) return;
    await eventually(async () => {
      const events = await feedOf(repository).eventsAfter(undefined, 1000);
      deepEqual(
        events.filter((event) => event.log.id === log.id).map((event) => [event.type, event.log]),
        [[type, log]],
      );
    });
  };

  if (exportOf) {
    suite.each(EXPORT_FORMATS, 'exports attributes as in JSON, in %s', async (format) => {
      const projectId = randomUUID();
      const samples = [undefined, ...SAMPLES.map(([, attributes]) => attributes)];
      const logs: TimeLog[] = [];
      for (const attributes of samples) {
        const log = newLog({ projectId, attributes });
        await repository.add(log);
        logs.push((await repository.get(log.id, ALL_PROJECTS))!);
      }
      await compareExport(exportOf(repository), projectId, logs, format, [...CSV_COLUMNS, 'attributes']);
    });
  }

  suite.each(SAMPLES, 'keeps %s unchanged', async (_what, attributes) => {
    const log = newLog({ attributes });
    await repository.add(log);
    deepEqual(await repository.get(log.id, ALL_PROJECTS), log);
    deepEqual((await repository.get(log.id, ALL_PROJECTS))!.attributes, attributes);
    deepEqual(await logsOf(log), [log]);
    await published(log, 'created');
  });

  suite.it('keeps a log without attributes, which has no such property', async () => {
    const [one, other] = [newLog(), newLog({ attributes: { other: 1 } })];
    await Promise.all([one, other].map((log) => repository.add(log)));
    const found = await repository.get(one.id, ALL_PROJECTS);
    deepEqual(found, one);
    ok(!('attributes' in found));
    ok(!('attributes' in (await logsOf(one))[0]!));
  });

  suite.it('returns the items of a page with the values of the logs', async () => {
    const projectId = randomUUID();
    const logs = [
      ...SAMPLES.map(([, attributes]) => newLog({ attributes, projectId })),
      newLog({ projectId }),
    ];
    for (const log of logs) await repository.add(log);
    const query = [{ projectIds: [projectId], period: Period.of() }, PAGE, ALL_PROJECTS] as const;
    const { items, total } = await repository.items(...query);
    const parsed = (texts: Iterable<string>) => Array.from(texts, (text) => JSON.parse(text) as unknown);
    deepEqual(parsed(items), parsed(itemsOf(logs.toReversed())));
    deepEqual(await find(repository, ...query), { logs: logs.toReversed(), total });
  });

  suite.it('corrects attributes, also alone, and publishes the correction', async () => {
    const log = newLog({ attributes: { a: 1 } });
    await repository.add(log);
    let stored = log;
    for (const attributes of [{ a: 2 }, { a: 2, b: {} }, undefined, {}]) {
      const correction = corrected(log, attributes);
      deepEqual(await repository.correct(correction, ALL_PROJECTS, undefined, stored), correction);
      await rejects(repository.correct(correction, ALL_PROJECTS, undefined, stored), {
        code: 'PRECONDITION_FAILED',
      });
      deepEqual(await repository.get(log.id, ALL_PROJECTS), correction);
      await published(correction, 'corrected');
      stored = correction;
    }
  });

  suite.it('keeps attributes that a correction without an expected log lacks', async () => {
    const log = newLog({ attributes: { a: 1, b: { c: [1] } } });
    await repository.add(log);
    const correction = corrected(log, undefined, { duration: 2 });
    const stored = corrected(log, log.attributes, { duration: 2 });
    deepEqual(await repository.correct(correction, ALL_PROJECTS), stored);
    deepEqual(await repository.get(log.id, ALL_PROJECTS), stored);
    await published(stored, 'corrected');
    deepEqual(await repository.correct(corrected(log, {}), ALL_PROJECTS), corrected(log, {}));
  });

  suite.it('publishes no correction that changes nothing, whatever the order of properties', async () => {
    const log = newLog({ attributes: { a: 1, b: { c: [1, 2], d: null } } });
    await repository.add(log);
    const same = { b: { d: null, c: [1, 2] }, a: 1.0 };
    deepEqual(await repository.correct(corrected(log, same), ALL_PROJECTS), log);
    deepEqual(await repository.correct(corrected(log), ALL_PROJECTS), log);
    const last = newLog();
    await repository.add(last);
    await published(last, 'created');
    await published(log, 'created');
  });

  suite.it('adds a log once per key, and rejects the key with other attributes', async () => {
    const projectId = randomUUID();
    const logWith = (attributes?: Attributes) => newLog({ projectId, attributes });
    const key = { caller: randomUUID(), text: 'key' };
    const first = logWith({ a: 1, b: 2 });
    equal(await repository.addOnce(first, key), first.id);
    equal(await repository.addOnce(logWith({ b: 2, a: 1 }), key), first.id);
    for (const other of [undefined, {}, { a: 1 }, { a: 1, b: '2' }, { a: 1, b: 2, c: null }]) {
      await rejects(repository.addOnce(logWith(other), key), {
        code: 'IDEMPOTENCY_KEY_REUSED',
      });
    }
    deepEqual(await repository.get(first.id, ALL_PROJECTS), first);
  });

  suite.it('adds a batch of logs with and without attributes, once per key', async () => {
    const projectId = randomUUID();
    const batchWith = (attributes: Attributes) => [
      ...SAMPLES.map(([, sample]) => newLog({ projectId, attributes: sample })),
      newLog({ projectId }),
      newLog({ projectId, attributes }),
    ];
    const key = { caller: randomUUID(), text: 'key' };
    const batch = batchWith({ a: 1, b: 2 });
    await repository.addAllOnce(batch, key);
    deepEqual((await logsOf(batch[0]!)).toReversed(), batch);
    const ids = batch.map(({ id }) => id);
    deepEqual(await repository.addAllOnce(batchWith({ b: 2, a: 1 }), key), ids);
    await rejects(repository.addAllOnce(batchWith({ a: 1 }), key), { code: 'IDEMPOTENCY_KEY_REUSED' });
  });

  const subject: ContractSubject = {
    repository: () => repository,
    totals: totalsOf && (() => totalsOf(repository)),
    exports: exportOf && (() => exportOf(repository)),
  };
  const filtered = newLogs(FILTERED);
  suite.before(async () => {
    for (const log of filtered) await repository.add(log);
  });
  suite.each(FILTERS, 'reads the logs with the attributes %s within an access to %s', async (own, bound) => {
    await compareReads(subject, filtered, own, bound);
  });
  suite.each<[string, 'all' | readonly string[], AttributeValues | undefined, boolean]>(
    [
      ['other values', ALL_PROJECTS, { user: 'bob' }, false],
      ['no values', ALL_PROJECTS, undefined, false],
      ['its values', ALL_PROJECTS, { user: 'ada', rate: 3 }, true],
      ['its values in another project', [OTHER], { user: 'ada' }, false],
      ['its values in its project', [ONE], { user: 'ada' }, true],
    ],
    'within an access to attributes, gets, corrects and deletes a log with %s only if it may',
    async (_what, projects, attributes, isVisible) => {
      const access = { projects, attributes: { user: 'ada' } };
      await compareChanges(subject, access, isVisible, { projectId: ONE, attributes });
    },
  );
  return suite.cases;
}
