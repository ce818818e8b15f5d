import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  ALL_PROJECTS,
  normalizedValues,
  PageRequest,
  Period,
  TimeLog,
} from '../../../../src/time-log/index.js';
import { type ContractSubject, type ContractSuite, find } from './contract-suite.js';

const ALL = PageRequest.of(1, 1000);
const everything = { period: Period.of() };

/** Adds the cases of access to projects. */
export function describeAccess(suite: ContractSuite, { repository, totals, newLog }: ContractSubject): void {
  suite.describe('within an access', () => {
    const [own, other, empty, foreign] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    let owned: TimeLog[];
    let otherLog: TimeLog;
    let foreignLog: TimeLog;
    suite.before(async () => {
      owned = [
        newLog({ projectId: own, date: '2026-01-31', duration: 0.1 }),
        newLog({ projectId: own, date: '2026-02-28', duration: 0.2 }),
      ];
      otherLog = newLog({ projectId: other, date: '2026-02-01', duration: 4 });
      foreignLog = newLog({ projectId: foreign, date: '2026-02-01', duration: 8 });
      for (const log of [...owned, otherLog, foreignLog]) await repository().add(log);
    });

    suite.each<[string, readonly string[], number]>(
      [
        ['one project', [own], 2],
        ['several projects', [own, other, empty], 3],
        ['the same project twice', [other, other], 1],
        ['a project without logs', [empty], 0],
        ['no project', [], 0],
      ],
      'lists and sums only the logs of %s, of the access or of the filter',
      async (_name, projectIds, count) => {
        const logs = [owned[1]!, otherLog, owned[0]!].filter(({ projectId }) =>
          projectIds.includes(projectId),
        );
        const named = { ...everything, projectIds };
        for (const [filter, access] of [
          [everything, projectIds],
          [named, ALL_PROJECTS],
          [named, [foreign, ...projectIds.toReversed()]],
          [{ ...everything, projectIds: [foreign, ...projectIds] }, projectIds],
        ] as const) {
          deepEqual(await find(repository(), filter, ALL, access), { logs, total: count });
          for (const [index, log] of logs.entries()) {
            const page = PageRequest.of(index + 1, 1);
            deepEqual(await find(repository(), filter, page, access), { logs: [log], total: count });
          }
          if (totals === undefined) continue;
          const { whole, groupCount } = await totals().totals(filter, 'day', ALL, access);
          deepEqual([whole.count, groupCount], [count, count]);
          const ofProjects = await totals().totals(filter, 'project', ALL, access);
          deepEqual(
            ofProjects.groups.map((group) => 'projectId' in group && group.projectId),
            [other, own].filter((id) => logs.some(({ projectId }) => projectId === id)),
          );
          deepEqual(ofProjects.whole, whole);
          const byBoth = await totals().totals(filter, 'project,day', ALL, access);
          deepEqual([byBoth.whole, byBoth.groupCount], [whole, count]);
        }
      },
    );

    suite.it('finds no logs of other projects', async () => {
      for (const access of [[own], [own, other], []]) {
        const filter = { ...everything, projectIds: [foreign] };
        deepEqual(await find(repository(), filter, ALL, access), { logs: [], total: 0 });
        const { items, total } = await repository().items(filter, ALL, access);
        deepEqual([[...items], total], [[], 0]);
        if (totals === undefined) continue;
        for (const grouping of [undefined, 'project', 'month', 'project,month'] as const) {
          deepEqual(await totals().totals(filter, grouping, ALL, access), {
            whole: { count: 0, duration: '0' },
            groups: [],
            groupCount: 0,
          });
        }
      }
    });

    suite.it('does not get, correct or delete a log of another project', async () => {
      const correction = TimeLog.record({ ...normalizedValues(foreignLog), projectId: own }, foreignLog.id);
      for (const access of [[own, other], []]) {
        equal(await repository().get(foreignLog.id, access), undefined);
        equal(await repository().correct(correction, access), undefined);
        equal(await repository().correct(foreignLog, access), undefined);
        equal(await repository().delete(foreignLog.id, access), undefined);
        // Also if it has other values than it is expected to have.
        equal(await repository().correct(correction, access, undefined, otherLog), undefined);
        equal(await repository().delete(foreignLog.id, access, undefined, otherLog), undefined);
      }
      deepEqual(await repository().get(foreignLog.id, [foreign]), foreignLog);
    });

    suite.it('corrects and deletes logs of its projects', async () => {
      const log = newLog({ projectId: own });
      await repository().add(log);
      const moved = TimeLog.record({ ...normalizedValues(log), projectId: other }, log.id);
      deepEqual(await repository().correct(moved, [own, other]), moved);
      equal(await repository().correct(moved, [own]), undefined);
      deepEqual(await repository().get(log.id, [other]), moved);
      equal(await repository().delete(log.id, [own]), undefined);
      notEqual(await repository().delete(log.id, [other]), undefined);
    });
  });
}
