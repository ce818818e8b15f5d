import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { ALL_PROJECTS } from '../../src/time-log/domain/access.js';
import { Page } from '../../src/time-log/domain/page.js';
import { Period } from '../../src/time-log/domain/period.js';
import type { TimeLogRepository } from '../../src/time-log/domain/time-log.repository.js';
import { normalizedValues, TimeLog, type TimeLogValues } from '../../src/time-log/domain/time-log.js';

const ALL = Page.of(1, 1000);

/** How every repository corrects and deletes logs, whatever it keeps them in. */
export function describeCorrections({
  repository,
  newLog,
}: {
  readonly repository: () => TimeLogRepository;
  readonly newLog: (values?: Partial<TimeLogValues>) => TimeLog;
}): void {
  const logsOf = (projectId: string) =>
    repository().find({ projectId, period: Period.of() }, ALL, ALL_PROJECTS);
  const sumOf = async (projectId: string) =>
    (await repository().totals({ projectId, period: Period.of() }, undefined, ALL, ALL_PROJECTS)).whole;
  /** What is known of a project: its logs, newest first, and what is counted and summed of them. */
  async function expectLogs(projectId: string, logs: readonly TimeLog[], duration: string): Promise<void> {
    expect(await logsOf(projectId)).toEqual({ logs, total: logs.length });
    expect(await sumOf(projectId)).toEqual({ count: logs.length, duration });
  }
  const corrected = (log: TimeLog, values: Partial<TimeLogValues>) =>
    TimeLog.record({ ...normalizedValues(log), ...values }, log.id);
  async function added(values?: Partial<TimeLogValues>): Promise<TimeLog> {
    const log = newLog(values);
    await repository().add(log);
    return log;
  }

  describe('corrects a log', () => {
    it('in all its values, and counts and sums follow', async () => {
      const [from, to] = [randomUUID(), randomUUID()];
      const [log, other] = [
        await added({ projectId: from, duration: 15, description: 'work', date: '2026-01-31' }),
        await added({ projectId: from, duration: 0.1 }),
      ];
      const correct = async (values: TimeLogValues) => {
        const correction = TimeLog.record(values, log.id);
        expect(await repository().correct(correction, ALL_PROJECTS)).toBe(true);
        expect(await repository().get(log.id, ALL_PROJECTS)).toEqual(correction);
        expect((await repository().get(log.id, ALL_PROJECTS))!.createdAt).toEqual(log.createdAt);
        return correction;
      };
      const values = { projectId: from, duration: 1.5, description: 'work', date: '2026-01-31' };
      await expectLogs(from, [other, await correct(values)], '1.6');
      await expectLogs(from, [await correct({ ...values, date: '9999-12-31' }), other], '1.6');
      await expectLogs(to, [await correct({ projectId: to, duration: 0.2, date: '0001-01-01' })], '0.2');
      await expectLogs(from, [other], '0.1');
    });

    it.each([
      ['projectId', { projectId: '11111111-1111-1111-1111-111111111112' }],
      ['duration', { duration: 1.0000000000000002 }],
      ['description', { description: ' ' }],
      ['date', { date: '2026-02-01' }],
    ])('also where only its %s differs', async (_name, value) => {
      const values = { duration: 1, description: '', date: '2026-01-31', projectId: randomUUID() };
      const log = await added(values);
      const correction = corrected(log, value);
      expect(await repository().correct(correction, ALL_PROJECTS)).toBe(true);
      expect(await repository().get(log.id, ALL_PROJECTS)).toEqual(correction);
    });

    it('and says alike that it is there where nothing changes', async () => {
      const log = await added({ duration: 0.1 + 0.2, description: 'é' });
      expect(await repository().correct(log, ALL_PROJECTS)).toBe(true);
      await expectLogs(log.projectId, [log], '0.30000000000000004');
    });

    it('but makes none', async () => {
      const log = newLog();
      expect(await repository().correct(log, ALL_PROJECTS)).toBe(false);
      await expectLogs(log.projectId, [], '0');
    });

    it('as a whole where several correct it at once', async () => {
      const log = await added();
      const corrections = Array.from({ length: 20 }, (_, index) =>
        corrected(log, {
          duration: index + 1,
          description: String(index + 1),
          date: `2026-01-${index + 10}`,
        }),
      );
      const outcomes = await Promise.all(corrections.map((one) => repository().correct(one, ALL_PROJECTS)));
      expect(new Set(outcomes)).toEqual(new Set([true]));
      const last = (await repository().get(log.id, ALL_PROJECTS))!;
      expect(corrections).toContainEqual(last);
      await expectLogs(log.projectId, [last], String(last.duration));
    });
  });

  describe('deletes a log', () => {
    it('once, and counts and sums follow', async () => {
      const projectId = randomUUID();
      const [log, other] = [
        await added({ projectId, duration: 0.1 }),
        await added({ projectId, duration: 0.2 }),
      ];
      expect(await repository().delete(log.id, ALL_PROJECTS)).toEqual(log);
      expect(await repository().get(log.id, ALL_PROJECTS)).toBeUndefined();
      await expectLogs(projectId, [other], '0.2');
      expect(await repository().delete(log.id, ALL_PROJECTS)).toBeUndefined();
      expect(await repository().correct(log, ALL_PROJECTS)).toBe(false);
      await expectLogs(projectId, [other], '0.2');
    });

    it('for one of many who delete it at once', async () => {
      const log = await added();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () => repository().delete(log.id, ALL_PROJECTS)),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      await expectLogs(log.projectId, [], '0');
    });

    it('for good, also where others correct it at once', async () => {
      const log = await added();
      const corrections = Array.from({ length: 20 }, (_, index) => corrected(log, { duration: index + 2 }));
      const [deleted] = await Promise.all([
        repository().delete(log.id, ALL_PROJECTS),
        ...corrections.map((one) => repository().correct(one, ALL_PROJECTS)),
      ]);
      expect(deleted).toMatchObject({ id: log.id, projectId: log.projectId });
      await expectLogs(log.projectId, [], '0');
    });
  });

  it('brings the first log of a key, whatever became of it', async () => {
    const key = { principal: randomUUID(), text: 'key' };
    const values = { projectId: randomUUID(), duration: 15 };
    const [log, again] = [newLog(values), newLog(values)];
    const retry = () => repository().addOnce(again, key);
    expect(await repository().addOnce(log, key)).toBe(log.id);
    expect(await repository().correct(corrected(log, { duration: 1.5 }), ALL_PROJECTS)).toBe(true);
    expect(await retry()).toBe(log.id);
    await expect(repository().addOnce(corrected(again, { duration: 1.5 }), key)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    expect(await repository().delete(log.id, ALL_PROJECTS)).toBeDefined();
    expect(await retry()).toBe(log.id);
    await expectLogs(log.projectId, [], '0');
  });

  it('tells which log a key has made, and stores nothing', async () => {
    const key = { principal: randomUUID(), text: 'key' };
    const values = { projectId: randomUUID(), duration: 15 };
    const [log, again] = [newLog(values), newLog(values)];
    expect(await repository().known(again, key)).toBeUndefined();
    await repository().addOnce(log, key);
    expect(await repository().known(again, key)).toBe(log.id);
    expect(await repository().known(again, { ...key, text: 'other' })).toBeUndefined();
    await expect(repository().known(corrected(again, { duration: 1.5 }), key)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    await expectLogs(log.projectId, [log], '15');
  });

  it('tells whenever it has corrected or deleted a log', async () => {
    const log = await added();
    let times = 0;
    repository().onRecorded(() => times++);
    await repository().correct(corrected(log, { duration: 2 }), ALL_PROJECTS);
    expect(times).toBe(1);
    await repository().delete(log.id, ALL_PROJECTS);
    expect(times).toBe(2);
    await repository().delete(log.id, ALL_PROJECTS);
    await repository().correct(log, ALL_PROJECTS);
    expect(times).toBe(2);
  });
}
