import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ALL_PROJECTS } from '../../src/time-log/domain/access.js';
import { Page } from '../../src/time-log/domain/page.js';
import { Period } from '../../src/time-log/domain/period.js';
import type { TimeLogRepository } from '../../src/time-log/domain/time-log.repository.js';
import { type Attributes, normalizedValues, TimeLog } from '../../src/time-log/domain/time-log.js';
import { itemOf } from '../../src/time-log/wire/time-log-bodies.js';
import { listJson } from '../../src/time-log/wire/time-log-json.js';
import { eventually } from '../faults/support/eventually.js';

const PAGE = Page.of(1, 50);

/** Texts that escapes, SQL, JSON and arrays of PostgreSQL may read in their own way. */
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

const SOME: readonly [string, Attributes][] = [
  ['none of them', {}],
  ['texts', Object.fromEntries(ODD_TEXTS.map((text, index) => [`text ${index}`, text]))],
  ['names', Object.fromEntries(ODD_TEXTS.map((text, index) => [text, index]))],
  ['numbers', { numbers: ODD_NUMBERS }],
  [
    'what else JSON has',
    { yes: true, no: false, none: null, list: [[], {}, [null, [1]]], in: { in: { in: {} } } },
  ],
];

/** How every repository keeps the attributes of logs, whatever it keeps them in. */
export function describeAttributes(name: string, create: () => Promise<TimeLogRepository>): void {
  describe(`${name}, of logs with attributes,`, () => {
    let repository: TimeLogRepository;
    let lastId = 0x019c_1370_0000;
    beforeAll(async () => {
      repository = await create();
    });

    function newLog(attributes?: Attributes, projectId: string = randomUUID()): TimeLog {
      const time = (++lastId).toString(16).padStart(12, '0');
      const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
      return TimeLog.record({ projectId, duration: 1, date: '2026-01-31', attributes }, id);
    }
    const corrected = (log: TimeLog, attributes?: Attributes) =>
      TimeLog.record({ ...normalizedValues(log), attributes }, log.id);
    const logsOf = async ({ projectId }: TimeLog) =>
      (await repository.find({ projectId, period: Period.of() }, PAGE, ALL_PROJECTS)).logs;
    const told = async (log: TimeLog) =>
      (await repository.eventsAfter(undefined, 1000)).filter((event) => event.log.id === log.id);

    it.each(SOME)('keeps %s as they are', async (_what, attributes) => {
      const log = newLog(attributes);
      await repository.add(log);
      expect(await repository.get(log.id, ALL_PROJECTS)).toEqual(log);
      expect((await repository.get(log.id, ALL_PROJECTS))!.attributes).toStrictEqual(attributes);
      expect(await logsOf(log)).toEqual([log]);
      await eventually(async () => expect((await told(log)).map((event) => event.log)).toEqual([log]));
    });

    it('and a log without them, which has no such member', async () => {
      const [one, other] = [newLog(), newLog({ other: 1 })];
      await Promise.all([one, other].map((log) => repository.add(log)));
      const found = await repository.get(one.id, ALL_PROJECTS);
      expect(found).toEqual(one);
      expect(found).not.toHaveProperty('attributes');
      expect((await logsOf(one))[0]).not.toHaveProperty('attributes');
    });

    it('writes the items of a page as the logs are', async () => {
      const projectId = randomUUID();
      const logs = [
        ...SOME.map(([, attributes]) => newLog(attributes, projectId)),
        newLog(undefined, projectId),
      ];
      for (const log of logs) await repository.add(log);
      const page = await repository.find({ projectId, period: Period.of() }, PAGE, ALL_PROJECTS);
      const items = [...listJson(page, PAGE).items].map((item) => JSON.parse(item) as unknown);
      const expected = logs.toReversed().map((log) => JSON.parse(JSON.stringify(itemOf(log))) as unknown);
      expect(items).toStrictEqual(expected);
      expect(page.logs).toEqual(logs.toReversed());
    });

    it('corrects them, also alone, and tells it', async () => {
      const log = newLog({ a: 1 });
      await repository.add(log);
      for (const attributes of [{ a: 2 }, { a: 2, b: {} }, undefined, {}]) {
        const correction = corrected(log, attributes);
        expect(await repository.correct(correction, ALL_PROJECTS)).toBe(true);
        expect(await repository.get(log.id, ALL_PROJECTS)).toEqual(correction);
        await eventually(async () =>
          expect((await told(log)).map((event) => [event.type, event.log])).toEqual([
            ['corrected', correction],
          ]),
        );
      }
    });

    it('does not tell a correction that changes nothing, in whatever order its members are', async () => {
      const log = newLog({ a: 1, b: { c: [1, 2], d: null } });
      await repository.add(log);
      const same = { b: { d: null, c: [1, 2] }, a: 1.0 };
      expect(await repository.correct(corrected(log, same), ALL_PROJECTS)).toBe(true);
      const last = newLog();
      await repository.add(last);
      await eventually(async () => expect(await told(last)).toHaveLength(1));
      expect((await told(log)).map(({ type }) => type)).toEqual(['created']);
    });

    it('adds a log once under a key, and refuses the key with other attributes', async () => {
      const values = { projectId: randomUUID(), duration: 1, date: '2026-01-31' };
      const key = { principal: randomUUID(), text: 'key' };
      const first = newLog({ a: 1, b: 2 }, values.projectId);
      expect(await repository.addOnce(first, key)).toBe(first.id);
      expect(await repository.addOnce(newLog({ b: 2, a: 1 }, values.projectId), key)).toBe(first.id);
      for (const other of [undefined, {}, { a: 1 }, { a: 1, b: '2' }, { a: 1, b: 2, c: null }]) {
        await expect(repository.addOnce(newLog(other, values.projectId), key)).rejects.toMatchObject({
          code: 'IDEMPOTENCY_KEY_REUSED',
        });
      }
      expect(await repository.get(first.id, ALL_PROJECTS)).toEqual(first);
    });
  });
}
