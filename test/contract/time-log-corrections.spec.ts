import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  normalizedValues,
  PageRequest,
  Period,
  TimeLog,
  type TimeLogValues,
} from '../../src/time-log/index.js';
import { DIFFERENCES, keyOfLog, newLog, recordOnce, VALUES } from './sample-logs.js';
import { ALL_PROJECTS, useStore } from '../support/storage.js';

const ALL = PageRequest.of(1, 1000);
const CHANGED = { code: 'PRECONDITION_FAILED' };

describe('corrections and deletions', () => {
  const store = useStore();
  /** Expects the logs of a project, newest first, with their count and sum. */
  async function expectLogs(projectId: string, logs: readonly TimeLog[], duration: string): Promise<void> {
    const filter = { projectIds: [projectId], period: Period.of() };
    expect(await store.repository.find(filter, ALL, ALL_PROJECTS)).toEqual({ logs, total: logs.length });
    const sums = await store.totals.totals(filter, undefined, ALL, ALL_PROJECTS);
    expect(sums.whole).toEqual({ count: logs.length, duration });
  }
  const corrected = (log: TimeLog, values: Partial<TimeLogValues>) =>
    TimeLog.of({ ...normalizedValues(log), ...values }, log.id);
  async function added(values?: Partial<TimeLogValues>): Promise<TimeLog> {
    const log = newLog(values);
    await store.repository.record([log]);
    return log;
  }

  describe('corrects a log', () => {
    it('in all its values, with its counts and sums', async () => {
      const [from, to] = [randomUUID(), randomUUID()];
      const [log, other] = [
        await added({ projectId: from, duration: 15, description: 'work', date: '2026-01-31' }),
        await added({ projectId: from, duration: 0.1 }),
      ];
      const correct = async (values: TimeLogValues) => {
        const correction = TimeLog.of(values, log.id);
        expect(await store.repository.correct(correction, ALL_PROJECTS)).toEqual(correction);
        expect(await store.repository.get(log.id, ALL_PROJECTS)).toEqual(correction);
        expect((await store.repository.get(log.id, ALL_PROJECTS))!.createdAt).toEqual(log.createdAt);
        return correction;
      };
      const values = { projectId: from, duration: 1.5, description: 'work', date: '2026-01-31' };
      await expectLogs(from, [other, await correct(values)], '1.6');
      await expectLogs(from, [await correct({ ...values, date: '9999-12-31' }), other], '1.6');
      await expectLogs(to, [await correct({ projectId: to, duration: 0.2, date: '0001-01-01' })], '0.2');
      await expectLogs(from, [other], '0.1');
    });
  });

  describe('deletes a log', () => {
    it('once, with its counts and sums', async () => {
      const projectId = randomUUID();
      const [log, other] = [
        await added({ projectId, duration: 0.1 }),
        await added({ projectId, duration: 0.2 }),
      ];
      expect(await store.repository.delete(log.id, ALL_PROJECTS)).toEqual(log);
      expect(await store.repository.get(log.id, ALL_PROJECTS)).toBe(undefined);
      await expectLogs(projectId, [other], '0.2');
      expect(await store.repository.delete(log.id, ALL_PROJECTS)).toBe(undefined);
      expect(await store.repository.correct(log, ALL_PROJECTS)).toBe(undefined);
      await expectLogs(projectId, [other], '0.2');
    });

    it('for one of many concurrent callers', async () => {
      const log = await added();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () => store.repository.delete(log.id, ALL_PROJECTS)),
      );
      expect(outcomes.filter(Boolean).length).toBe(1);
      await expectLogs(log.projectId, [], '0');
    });
  });

  describe('changes a log only if it has the expected values', () => {
    it.each(DIFFERENCES)('of which %s may differ', async (_name, value) => {
      const log = await added(VALUES);
      const other = corrected(log, value);
      for (const correction of [other, log]) {
        expect(await store.repository.correct(correction, ALL_PROJECTS)).toEqual(correction);
        expect(await store.repository.get(log.id, ALL_PROJECTS)).toEqual(correction);
      }
      const correct = (expected: TimeLog) =>
        store.repository.correct(other, ALL_PROJECTS, undefined, expected);
      const remove = (expected: TimeLog) =>
        store.repository.delete(log.id, ALL_PROJECTS, undefined, expected);
      for (const change of [correct, remove]) await expect(change(other)).rejects.toMatchObject(CHANGED);
      expect(await store.repository.get(log.id, ALL_PROJECTS)).toEqual(log);
      expect(await correct(log)).toEqual(other);
      // Also if the log has the new values already.
      for (const change of [correct, remove]) await expect(change(log)).rejects.toMatchObject(CHANGED);
      expect(await store.repository.get(log.id, ALL_PROJECTS)).toEqual(other);
      expect(await correct(other)).toEqual(other);
      expect(await remove(other)).toEqual(other);
      for (const change of [correct, remove]) expect(await change(other)).toBe(undefined);
    });

    it('for one of many concurrent callers', async () => {
      const log = await added();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) =>
          store.repository.correct(corrected(log, { duration: index + 2 }), ALL_PROJECTS, undefined, log),
        ),
      );
      const [made, ...others] = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      expect([made, others]).toEqual([await store.repository.get(log.id, ALL_PROJECTS), []]);
      await expectLogs(log.projectId, [made!], String(made!.duration));
    });
  });

  it('finds the first log of a key as it was answered, even if corrected or deleted', async () => {
    const key = { caller: randomUUID(), text: 'key' };
    const values = { projectId: randomUUID(), duration: 15 };
    const [log, again] = [newLog(values), newLog(values)];
    const keyOfAgain = keyOfLog(again, key);
    const retry = async () => [
      (await store.repository.record([again], { key: keyOfAgain })).logs,
      await store.repository.findByKey(keyOfAgain),
    ];
    const answers = [[{ ...(log as object) }], [{ ...(log as object) }]];
    expect(await store.repository.findByKey(keyOfAgain)).toBe(undefined);
    expect(await recordOnce(store.repository, log, key)).toBe(log.id);
    const other = corrected(log, { duration: 1.5 });
    expect(await store.repository.correct(other, ALL_PROJECTS)).not.toBe(undefined);
    expect(await retry()).toEqual(answers);
    expect(await store.repository.findByKey({ ...keyOfAgain, text: 'other' })).toBe(undefined);
    const ofOther = keyOfLog(corrected(again, { duration: 1.5 }), key);
    for (const use of [
      store.repository.record([again], { key: ofOther }),
      store.repository.findByKey(ofOther),
    ])
      await expect(use).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(await store.repository.delete(log.id, ALL_PROJECTS)).not.toBe(undefined);
    expect(await retry()).toEqual(answers);
    await expectLogs(log.projectId, [], '0');
  });

  it('keeps attributes with their key in the order of the answer', async () => {
    const attributes = { zz: 1, a: { y: 1, b: 2 } };
    const log = newLog({ attributes });
    const key = keyOfLog(log, { caller: randomUUID(), text: 'key' });
    await store.repository.record([log], { key });
    expect(JSON.stringify(await store.repository.findByKey(key))).toBe(
      JSON.stringify([{ ...(log as object) }]),
    );
  });

  it('locks a log that a transaction gets to change it', async () => {
    const log = await added({ duration: 1 });
    const increase = () =>
      store.repository.transact(async (transaction) => {
        const writes = store.repository.within(transaction);
        const { duration } = (await writes.get(log.id, ALL_PROJECTS, true))!;
        await writes.correct(corrected(log, { duration: duration + 1 }), ALL_PROJECTS);
      });
    await Promise.all(Array.from({ length: 10 }, increase));
    await expectLogs(log.projectId, [corrected(log, { duration: 11 })], '11');
  });
});
