import { deepEqual, equal, notEqual, ok, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  ALL_PROJECTS,
  normalizedValues,
  PageRequest,
  Period,
  TimeLog,
  type TimeLogValues,
} from '../../../../src/time-log/index.js';
import { type ContractSubject, type ContractSuite, find } from './contract-suite.js';
import { newLog } from './new-log.js';
import { DIFFERENCES, VALUES } from './sample-values.js';

const ALL = PageRequest.of(1, 1000);
const CHANGED = { code: 'PRECONDITION_FAILED' };

/** Adds the cases of corrections and deletions. */
export function describeCorrections(suite: ContractSuite, { repository, totals }: ContractSubject): void {
  /** Expects the logs of a project, newest first, with their count and sum. */
  async function expectLogs(projectId: string, logs: readonly TimeLog[], duration: string): Promise<void> {
    const filter = { projectIds: [projectId], period: Period.of() };
    deepEqual(await find(repository(), filter, ALL, ALL_PROJECTS), { logs, total: logs.length });
    const sums = await totals?.().totals(filter, undefined, ALL, ALL_PROJECTS);
    if (sums) deepEqual(sums.whole, { count: logs.length, duration });
  }
  const corrected = (log: TimeLog, values: Partial<TimeLogValues>) =>
    TimeLog.record({ ...normalizedValues(log), ...values }, log.id);
  async function added(values?: Partial<TimeLogValues>): Promise<TimeLog> {
    const log = newLog(values);
    await repository().add(log);
    return log;
  }

  suite.describe('corrects a log', () => {
    suite.it('in all its values, with its counts and sums', async () => {
      const [from, to] = [randomUUID(), randomUUID()];
      const [log, other] = [
        await added({ projectId: from, duration: 15, description: 'work', date: '2026-01-31' }),
        await added({ projectId: from, duration: 0.1 }),
      ];
      const correct = async (values: TimeLogValues) => {
        const correction = TimeLog.record(values, log.id);
        deepEqual(await repository().correct(correction, ALL_PROJECTS), correction);
        deepEqual(await repository().get(log.id, ALL_PROJECTS), correction);
        deepEqual((await repository().get(log.id, ALL_PROJECTS))!.createdAt, log.createdAt);
        return correction;
      };
      const values = { projectId: from, duration: 1.5, description: 'work', date: '2026-01-31' };
      await expectLogs(from, [other, await correct(values)], '1.6');
      await expectLogs(from, [await correct({ ...values, date: '9999-12-31' }), other], '1.6');
      await expectLogs(to, [await correct({ projectId: to, duration: 0.2, date: '0001-01-01' })], '0.2');
      await expectLogs(from, [other], '0.1');
    });

    suite.it('and resolves with it if nothing changes', async () => {
      const log = await added({ duration: 0.1 + 0.2, description: 'é' });
      deepEqual(await repository().correct(log, ALL_PROJECTS), log);
      await expectLogs(log.projectId, [log], '0.30000000000000004');
    });

    suite.it('but never creates one', async () => {
      const log = newLog();
      equal(await repository().correct(log, ALL_PROJECTS), undefined);
      await expectLogs(log.projectId, [], '0');
    });

    suite.it('as a whole during concurrent corrections', async () => {
      const log = await added();
      const corrections = Array.from({ length: 20 }, (_, index) =>
        corrected(log, {
          duration: index + 1,
          description: String(index + 1),
          date: `2026-01-${index + 10}`,
        }),
      );
      const outcomes = await Promise.all(corrections.map((one) => repository().correct(one, ALL_PROJECTS)));
      deepEqual(outcomes, corrections);
      const last = (await repository().get(log.id, ALL_PROJECTS))!;
      ok(corrections.some((one) => isDeepStrictEqual(one, last)));
      await expectLogs(log.projectId, [last], String(last.duration));
    });
  });

  suite.describe('deletes a log', () => {
    suite.it('once, with its counts and sums', async () => {
      const projectId = randomUUID();
      const [log, other] = [
        await added({ projectId, duration: 0.1 }),
        await added({ projectId, duration: 0.2 }),
      ];
      deepEqual(await repository().delete(log.id, ALL_PROJECTS), log);
      equal(await repository().get(log.id, ALL_PROJECTS), undefined);
      await expectLogs(projectId, [other], '0.2');
      equal(await repository().delete(log.id, ALL_PROJECTS), undefined);
      equal(await repository().correct(log, ALL_PROJECTS), undefined);
      await expectLogs(projectId, [other], '0.2');
    });

    suite.it('for one of many concurrent callers', async () => {
      const log = await added();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () => repository().delete(log.id, ALL_PROJECTS)),
      );
      equal(outcomes.filter(Boolean).length, 1);
      await expectLogs(log.projectId, [], '0');
    });

    suite.it('permanently, also during concurrent corrections', async () => {
      const log = await added();
      const corrections = Array.from({ length: 20 }, (_, index) => corrected(log, { duration: index + 2 }));
      const [deleted] = await Promise.all([
        repository().delete(log.id, ALL_PROJECTS),
        ...corrections.map((one) => repository().correct(one, ALL_PROJECTS)),
      ]);
      deepEqual([deleted?.id, deleted?.projectId], [log.id, log.projectId]);
      await expectLogs(log.projectId, [], '0');
    });
  });

  suite.describe('changes a log only if it has the expected values', () => {
    suite.each(DIFFERENCES, 'of which %s may differ', async (_name, value) => {
      const log = await added(VALUES);
      const other = corrected(log, value);
      for (const correction of [other, log]) {
        deepEqual(await repository().correct(correction, ALL_PROJECTS), correction);
        deepEqual(await repository().get(log.id, ALL_PROJECTS), correction);
      }
      const correct = (expected: TimeLog) => repository().correct(other, ALL_PROJECTS, undefined, expected);
      const remove = (expected: TimeLog) => repository().delete(log.id, ALL_PROJECTS, undefined, expected);
      for (const change of [correct, remove]) await rejects(change(other), CHANGED);
      deepEqual(await repository().get(log.id, ALL_PROJECTS), log);
      deepEqual(await correct(log), other);
      // Also if the log has the new values already.
      for (const change of [correct, remove]) await rejects(change(log), CHANGED);
      deepEqual(await repository().get(log.id, ALL_PROJECTS), other);
      deepEqual(await correct(other), other);
      deepEqual(await remove(other), other);
      for (const change of [correct, remove]) equal(await change(other), undefined);
    });

    suite.it('for one of many concurrent callers', async () => {
      const log = await added();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) =>
          repository().correct(corrected(log, { duration: index + 2 }), ALL_PROJECTS, undefined, log),
        ),
      );
      const [made, ...others] = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      deepEqual([made, others], [await repository().get(log.id, ALL_PROJECTS), []]);
      await expectLogs(log.projectId, [made!], String(made!.duration));
    });

    suite.it('in a transaction, which also gets it', async () => {
      const log = await added(VALUES);
      const other = corrected(log, { duration: 2 });
      await repository().transact(async (transaction) => {
        const writes = repository().within(transaction);
        deepEqual(await writes.get(log.id, ALL_PROJECTS), log);
        deepEqual(await writes.correct(other, ALL_PROJECTS, undefined, log), other);
        deepEqual(await writes.get(log.id, ALL_PROJECTS), other);
        await rejects(writes.correct(log, ALL_PROJECTS, undefined, log), CHANGED);
        await rejects(writes.delete(log.id, ALL_PROJECTS, undefined, log), CHANGED);
      });
      deepEqual(await repository().get(log.id, ALL_PROJECTS), other);
    });
  });

  suite.it('finds the first log of a key, even if corrected or deleted', async () => {
    const key = { caller: randomUUID(), text: 'key' };
    const values = { projectId: randomUUID(), duration: 15 };
    const [log, again] = [newLog(values), newLog(values)];
    const retry = async () => [await repository().addOnce(again, key), await repository().known(again, key)];
    equal(await repository().known(again, key), undefined);
    equal(await repository().addOnce(log, key), log.id);
    notEqual(await repository().correct(corrected(log, { duration: 1.5 }), ALL_PROJECTS), undefined);
    deepEqual(await retry(), [log.id, log.id]);
    equal(await repository().known(again, { ...key, text: 'other' }), undefined);
    for (const use of ['addOnce', 'known'] as const)
      await rejects(repository()[use](corrected(again, { duration: 1.5 }), key), {
        code: 'IDEMPOTENCY_KEY_REUSED',
      });
    notEqual(await repository().delete(log.id, ALL_PROJECTS), undefined);
    deepEqual(await retry(), [log.id, log.id]);
    await expectLogs(log.projectId, [], '0');
  });

  suite.it('keeps the values of a hook with their key, but compares those that were sent', async () => {
    const sent = { projectId: randomUUID(), duration: 15 };
    const stamped = { ...sent, description: 'stamped' };
    const newReplaced = () => TimeLog.replace(newLog(sent), { ...VALUES, ...stamped });
    const [key, keyOfBatch] = ['one', 'batch'].map((text) => ({ caller: randomUUID(), text }));
    const [log, ...batch] = [newReplaced(), newReplaced(), newReplaced()];
    equal(await repository().addOnce(log, key!), log.id);
    deepEqual(await repository().get(log.id, ALL_PROJECTS), log);
    equal(await repository().known(newLog(sent), key!), log.id);
    await rejects(repository().known(newLog(stamped), key!), { code: 'IDEMPOTENCY_KEY_REUSED' });
    const ids = batch.map(({ id }) => id);
    deepEqual(await repository().addAllOnce(batch, keyOfBatch!), ids);
    deepEqual(await repository().knownAll([newLog(sent), newLog(sent)], keyOfBatch!), ids);
    if (!repository().replaced) return;
    const values = async (some = key!) =>
      (await repository().replaced!(some))?.map((one) => normalizedValues(one));
    deepEqual(await values(), [normalizedValues(log)]);
    deepEqual(
      await values(keyOfBatch),
      batch.map((one) => normalizedValues(one)),
    );
    equal(await values({ ...key!, text: 'other' }), undefined);
  });

  suite.it('locks a log that a transaction gets to change it, if it has transactions', async () => {
    const [log, gone] = [await added({ duration: 1 }), newLog()];
    const rolledBack = repository().transact(async (transaction) => {
      await repository().within(transaction).add(gone);
      throw new Error('no');
    });
    await rejects(rolledBack, { message: 'no' });
    if (await repository().get(gone.id, ALL_PROJECTS)) return;
    const increase = () =>
      repository().transact(async (transaction) => {
        const writes = repository().within(transaction);
        const { duration } = (await writes.get(log.id, ALL_PROJECTS, true))!;
        await writes.correct(corrected(log, { duration: duration + 1 }), ALL_PROJECTS);
      });
    await Promise.all(Array.from({ length: 10 }, increase));
    await expectLogs(log.projectId, [corrected(log, { duration: 11 })], '11');
  });
}
