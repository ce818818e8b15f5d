import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ProjectAccess } from '../domain/project-access.js';
import { PageRequest } from '../domain/page-request.js';
import { Period } from '../domain/period.js';
import { normalizedValues, TimeLog } from '../domain/time-log.js';
import type { ContractSubject, ContractSuite } from './contract-suite.js';
import { find } from './find.js';

const ALL = PageRequest.of(1, 1000);
const everything = { period: Period.of() };

/** How every repository keeps callers within their projects. */
export function describeAccess(suite: ContractSuite, { repository, totals, newLog }: ContractSubject): void {
  suite.describe('within an access', () => {
    const [own, other, empty, foreign] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    let ofOwn: TimeLog[];
    let ofOther: TimeLog;
    let ofForeign: TimeLog;
    suite.before(async () => {
      ofOwn = [
        newLog({ projectId: own, date: '2026-01-31', duration: 0.1 }),
        newLog({ projectId: own, date: '2026-02-28', duration: 0.2 }),
      ];
      ofOther = newLog({ projectId: other, date: '2026-02-01', duration: 4 });
      ofForeign = newLog({ projectId: foreign, date: '2026-02-01', duration: 8 });
      for (const log of [...ofOwn, ofOther, ofForeign]) await repository().add(log);
    });

    suite.each<[string, ProjectAccess, number]>(
      [
        ['one project', [own], 2],
        ['several', [own, other, empty], 3],
        ['the same one twice', [other, other], 1],
        ['one without logs', [empty], 0],
        ['none', [], 0],
      ],
      'lists and sums the logs of %s, as if there were no others',
      async (_name, access, count) => {
        const logs = [ofOwn[1]!, ofOther, ofOwn[0]!].filter(({ projectId }) => access.includes(projectId));
        deepEqual(await find(repository(), everything, ALL, access), { logs, total: count });
        for (const [index, log] of logs.entries()) {
          const page = PageRequest.of(index + 1, 1);
          deepEqual(await find(repository(), everything, page, access), { logs: [log], total: count });
        }
        if (totals === undefined) return;
        const { whole, groupCount } = await totals().totals(everything, 'day', ALL, access);
        deepEqual([whole.count, groupCount], [count, count]);
        const ofProjects = await totals().totals(everything, 'project', ALL, access);
        deepEqual(
          ofProjects.groups.map((group) => 'projectId' in group && group.projectId),
          [other, own].filter((id) => logs.some(({ projectId }) => projectId === id)),
        );
        deepEqual(ofProjects.whole, whole);
      },
    );

    suite.it('finds nothing of a project beyond it', async () => {
      for (const access of [[own], [own, other], []]) {
        const filter = { ...everything, projectId: foreign };
        deepEqual(await find(repository(), filter, ALL, access), { logs: [], total: 0 });
        const { items, total } = await repository().items(filter, ALL, access);
        deepEqual([[...items], total], [[], 0]);
        if (totals === undefined) continue;
        for (const grouping of [undefined, 'project', 'month'] as const) {
          deepEqual(await totals().totals(filter, grouping, ALL, access), {
            whole: { count: 0, duration: '0' },
            groups: [],
            groupCount: 0,
          });
        }
      }
    });

    suite.it('knows no log beyond it, neither to get, nor to correct, nor to delete', async () => {
      const correction = TimeLog.record({ ...normalizedValues(ofForeign), projectId: own }, ofForeign.id);
      for (const access of [[own, other], []]) {
        equal(await repository().get(ofForeign.id, access), undefined);
        equal(await repository().correct(correction, access), false);
        equal(await repository().correct(ofForeign, access), false);
        equal(await repository().delete(ofForeign.id, access), undefined);
      }
      deepEqual(await repository().get(ofForeign.id, [foreign]), ofForeign);
    });

    suite.it('corrects and deletes what is within', async () => {
      const log = newLog({ projectId: own });
      await repository().add(log);
      const moved = TimeLog.record({ ...normalizedValues(log), projectId: other }, log.id);
      equal(await repository().correct(moved, [own, other]), true);
      equal(await repository().correct(moved, [own]), false);
      deepEqual(await repository().get(log.id, [other]), moved);
      equal(await repository().delete(log.id, [own]), undefined);
      notEqual(await repository().delete(log.id, [other]), undefined);
    });
  });
}
