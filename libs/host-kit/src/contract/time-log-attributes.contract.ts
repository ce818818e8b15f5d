import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  ALL_PROJECTS,
  type Attributes,
  itemsOf,
  logResponse,
  normalizedValues,
  PageRequest,
  Period,
  TimeLog,
  type TimeLogRepository,
  type TimeLogValues,
} from '../../../../src/time-log/index.js';
import type { TimeLogEvent } from '../../../../src/feed/index.js';
import { type ContractCase, type ContractOptions, ContractSuite, find } from './contract-suite.js';
import { eventually } from './eventually.js';
import { newLog } from './new-log.js';
import { describeAttributeFilters } from './time-log-attribute-filters.contract.js';

const PAGE = PageRequest.of(1, 50);

/** Texts with a meaning of their own in SQL, JSON or arrays of PostgreSQL. */
const ODD_TEXTS = [
  '',
  ' ',
  'null',
  'NULL',
  '{}',
  '{"a":1}',
  '"',
  "'",
  '\\',
  '\\"',
  '\\u0000',
  '\\x00',
  ',',
  '__proto__',
  '$1',
  "'; drop table x; --",
  '\u0001\u001f\u007f\u0080',
  '\u2028\u2029\ufeff\ufffe\uffff',
  'é e\u0301 😀 \u{10ffff} עברית \u202e',
];
const ODD_NUMBERS = [0, -1, 5e-324, 1e-7, 0.1 + 0.2, 1e21, -1e300, Number.MAX_VALUE, 2 ** 53 + 2];

const SAMPLES: readonly [string, Attributes][] = [
  ['empty attributes', {}],
  ['texts', Object.fromEntries(ODD_TEXTS.map((text, index) => [`text ${index}`, text]))],
  ['names', Object.fromEntries(ODD_TEXTS.map((text, index) => [text, index]))],
  ['numbers', { numbers: ODD_NUMBERS }],
  [
    'other JSON values',
    { yes: true, no: false, none: null, list: [[], {}, [null, [1]]], in: { in: { in: {} } } },
  ],
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
    suite.each(SAMPLES, 'exports %s as in JSON', async (_what, attributes) => {
      const logs = [newLog({ attributes, description: 'a,"\n' }), newLog()];
      for (const log of logs) await repository.add(log);
      const filter = { period: Period.of() };
      for (const [format, expected] of [
        ['ndjson', (log: TimeLog) => JSON.stringify(logResponse(log).data)],
        [
          'csv',
          ({ attributes: own }: TimeLog) =>
            own === undefined
              ? 'Z,'
              : Object.keys(own).length === 0
                ? 'Z,{}'
                : `,"${JSON.stringify(own).replaceAll('"', '""')}"`,
        ],
      ] as const) {
        let text = '';
        await exportOf(repository).export({ filter, format, access: ALL_PROJECTS }, async ({ content }) => {
          const decoder = new TextDecoder();
          for await (const part of content) text += decoder.decode(part, { stream: true });
        });
        for (const { id } of logs) {
          const line = `${expected((await repository.get(id, ALL_PROJECTS))!)}\n`;
          ok(text.includes(line), `${format}: ${line} in ${text}`);
        }
      }
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

  describeAttributeFilters(suite, {
    repository: () => repository,
    totals: totalsOf && (() => totalsOf(repository)),
    exports: exportOf && (() => exportOf(repository)),
  });
  return suite.cases;
}
