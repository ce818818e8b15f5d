import { beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource, EntityManager } from 'typeorm';
import { LOG } from '../support/requests.js';
import { entityTagOf, PageRequest, Period, type TimeLog, TimeLogService } from '../../src/time-log/index.js';
import { newIds, repositoryOver, useDatabase } from '../support/storage.js';

const key = (text: string) => ({ caller: 'ada', text });

/** The error that a host throws to roll back. */
class Rollback extends Error {}

describe('recording, correcting and deleting in a transaction of the caller', () => {
  const database = useDatabase();
  let dataSource: DataSource;
  let timeLogs: TimeLogService;

  beforeAll(async () => {
    dataSource = await database.openAsService();
    timeLogs = new TimeLogService(repositoryOver(dataSource), newIds());
  });

  /** The logs of a project, and their number from the table of counts. */
  const listed = (projectId: string) =>
    timeLogs.list({ projectIds: [projectId], period: Period.of() }, PageRequest.of(1, 50));
  const rolledBack = (act: (manager: EntityManager) => Promise<unknown>) =>
    expect(
      dataSource.transaction(async (manager) => {
        await act(manager);
        throw new Rollback();
      }),
    ).rejects.toThrow(Rollback);
  const values = () => ({ ...LOG, projectId: crypto.randomUUID() });

  it('stores and counts the log with the commit, not before, and not after a rollback', async () => {
    const given = values();
    await rolledBack((manager) => timeLogs.record(given, { manager }));
    const log = await dataSource.transaction(async (manager) => {
      const recorded = await timeLogs.record(given, { manager });
      expect(await listed(given.projectId)).toEqual({ logs: [], total: 0 });
      return recorded;
    });
    expect(await listed(given.projectId)).toEqual({ logs: [log], total: 1 });
  });

  it('rolls back to a savepoint of the caller', async () => {
    const given = values();
    const log = await dataSource.transaction(async (manager) => {
      const kept = await timeLogs.record(given, { manager });
      const inner = manager.transaction(async (nested) => {
        await timeLogs.record(given, { manager: nested });
        throw new Rollback();
      });
      await expect(inner).rejects.toThrow(Rollback);
      return kept;
    });
    expect(await listed(given.projectId)).toEqual({ logs: [log], total: 1 });
  });

  it('keeps a key with the commit, and forgets it after a rollback, also that of a batch', async () => {
    const given = values();
    await rolledBack((manager) => timeLogs.recordAllOnce([given, given], key('once'), { manager }));
    await rolledBack((manager) => timeLogs.recordOnce(given, key('once'), { manager }));
    const [first, again] = await dataSource.transaction(async (manager) => [
      await timeLogs.recordOnce(given, key('once'), { manager }),
      await timeLogs.recordOnce(given, key('once'), { manager }),
    ]);
    expect([first.isReplay, again]).toEqual([false, { log: first.log, isReplay: true }]);
    expect(await timeLogs.recordOnce(given, key('once'))).toEqual(again);
    expect(await listed(given.projectId)).toEqual({ logs: [first.log], total: 1 });
    const other = dataSource.transaction((manager) =>
      timeLogs.recordOnce({ ...given, duration: 9 }, key('once'), { manager }),
    );
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
  });

  it('corrects and deletes with the commit, and not at all after a rollback', async () => {
    const given = values();
    const [first, second] = [await timeLogs.record(given), await timeLogs.record(given)];
    const change = async (manager: EntityManager) => {
      const corrected = await timeLogs.correct(first.id, { ...given, duration: 9 }, { manager });
      await timeLogs.delete(second.id, { manager });
      expect(await listed(given.projectId)).toEqual({ logs: [second, first], total: 2 });
      return corrected;
    };
    await rolledBack(change);
    expect(await listed(given.projectId)).toEqual({ logs: [second, first], total: 2 });
    const corrected = await dataSource.transaction(change);
    expect(await listed(given.projectId)).toEqual({ logs: [corrected], total: 1 });
    const none = dataSource.transaction((manager) => timeLogs.delete(second.id, { manager }));
    await expect(none).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('patches and compares the log as the transaction sees it', async () => {
    const given = values();
    const patched = await dataSource.transaction(async (manager) => {
      const { id } = await timeLogs.record(given, { manager });
      const first = await timeLogs.get(id, { manager });
      const longer = ({ duration }: TimeLog) => ({ ...given, duration: duration + 1 });
      const second = await timeLogs.patch(id, longer, { manager, ifMatch: [entityTagOf(first)] });
      for (const change of [
        timeLogs.patch(id, longer, { manager, ifMatch: [entityTagOf(first)] }),
        timeLogs.delete(id, { manager, ifMatch: [entityTagOf(first)] }),
      ])
        await expect(change).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
      return timeLogs.correct(
        id,
        { ...given, duration: second.duration + 1 },
        { manager, ifMatch: [entityTagOf(second)] },
      );
    });
    expect(await listed(given.projectId)).toEqual({ logs: [patched], total: 1 });
  });

  it('makes others with the same key wait for its end', async () => {
    const given = values();
    const { first, waiting } = await dataSource.transaction(async (manager) => {
      const recorded = await timeLogs.recordOnce(given, key('shared'), { manager });
      return { first: recorded, waiting: [timeLogs.recordOnce(given, key('shared'))] };
    });
    expect(await waiting[0]).toEqual({ log: first.log, isReplay: true });
    expect(await listed(given.projectId)).toEqual({ logs: [first.log], total: 1 });
  });

  it('refuses values, and what is no open transaction of its DataSource', async () => {
    const given = values();
    const refused = dataSource.transaction((manager) =>
      timeLogs.record({ ...given, duration: 0 }, { manager }),
    );
    await expect(refused).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    const none =
      'the manager has no open transaction: use that of dataSource.transaction(async (manager) => …)';
    await expect(timeLogs.record(given, { manager: dataSource.manager })).rejects.toThrow(none);
    let ended: EntityManager | undefined;
    await dataSource.transaction(async (manager) => void (ended = manager));
    await expect(timeLogs.record(given, { manager: ended })).rejects.toThrow(none);
    await expect(
      database.dataSource.transaction((manager) => timeLogs.record(given, { manager })),
    ).rejects.toThrow(
      'the transaction belongs to another DataSource: start it in the DataSource of time logs',
    );
    expect(await listed(given.projectId)).toEqual({ logs: [], total: 0 });
  });
});
