import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Access } from '../../src/time-log/domain/access.js';
import { Page } from '../../src/time-log/domain/page.js';
import { Period } from '../../src/time-log/domain/period.js';
import type { TimeLogRepository } from '../../src/time-log/domain/time-log.repository.js';
import { normalizedValues, TimeLog, type TimeLogValues } from '../../src/time-log/domain/time-log.js';

const ALL = Page.of(1, 1000);
const everything = { period: Period.of() };

/** How every repository keeps callers within their projects. */
export function describeAccess({
  repository,
  newLog,
}: {
  readonly repository: () => TimeLogRepository;
  readonly newLog: (values?: Partial<TimeLogValues>) => TimeLog;
}): void {
  describe('within an access', () => {
    const [own, other, empty, foreign] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    let ofOwn: TimeLog[];
    let ofOther: TimeLog;
    let ofForeign: TimeLog;
    beforeAll(async () => {
      ofOwn = [
        newLog({ projectId: own, date: '2026-01-31', duration: 0.1 }),
        newLog({ projectId: own, date: '2026-02-28', duration: 0.2 }),
      ];
      ofOther = newLog({ projectId: other, date: '2026-02-01', duration: 4 });
      ofForeign = newLog({ projectId: foreign, date: '2026-02-01', duration: 8 });
      for (const log of [...ofOwn, ofOther, ofForeign]) await repository().add(log);
    });

    it('says that it obeys', () => {
      expect(repository().obeysAccess).toBe(true);
    });

    it.each<[string, Access, number]>([
      ['one project', [own], 2],
      ['several', [own, other, empty], 3],
      ['the same one twice', [other, other], 1],
      ['one without logs', [empty], 0],
      ['none', [], 0],
    ])('lists and sums the logs of %s, as if there were no others', async (_name, access, count) => {
      const logs = [ofOwn[1]!, ofOther, ofOwn[0]!].filter(({ projectId }) => access.includes(projectId));
      expect(await repository().find(everything, ALL, access)).toEqual({ logs, total: count });
      for (const [index, log] of logs.entries()) {
        const page = Page.of(index + 1, 1);
        expect(await repository().find(everything, page, access)).toEqual({ logs: [log], total: count });
      }
      const { whole, groupCount } = await repository().totals(everything, 'day', ALL, access);
      expect([whole.count, groupCount]).toEqual([count, count]);
      const ofProjects = await repository().totals(everything, 'project', ALL, access);
      expect(ofProjects.groups.map((group) => 'projectId' in group && group.projectId)).toEqual(
        [other, own].filter((id) => logs.some(({ projectId }) => projectId === id)),
      );
      expect(ofProjects.whole).toEqual(whole);
    });

    it('finds nothing of a project beyond it', async () => {
      for (const access of [[own], [own, other], []]) {
        const filter = { ...everything, projectId: foreign };
        expect(await repository().find(filter, ALL, access)).toEqual({ logs: [], total: 0 });
        for (const grouping of [undefined, 'project', 'month'] as const) {
          expect(await repository().totals(filter, grouping, ALL, access)).toEqual({
            whole: { count: 0, duration: '0' },
            groups: [],
            groupCount: 0,
          });
        }
      }
    });

    it('knows no log beyond it, neither to get, nor to correct, nor to delete', async () => {
      const correction = TimeLog.record({ ...normalizedValues(ofForeign), projectId: own }, ofForeign.id);
      for (const access of [[own, other], []]) {
        expect(await repository().get(ofForeign.id, access)).toBeUndefined();
        expect(await repository().correct(correction, access)).toBe(false);
        expect(await repository().correct(ofForeign, access)).toBe(false);
        expect(await repository().delete(ofForeign.id, access)).toBeUndefined();
      }
      expect(await repository().get(ofForeign.id, [foreign])).toEqual(ofForeign);
    });

    it('corrects and deletes what is within', async () => {
      const log = newLog({ projectId: own });
      await repository().add(log);
      const moved = TimeLog.record({ ...normalizedValues(log), projectId: other }, log.id);
      expect(await repository().correct(moved, [own, other])).toBe(true);
      expect(await repository().correct(moved, [own])).toBe(false);
      expect(await repository().get(log.id, [other])).toEqual(moved);
      expect(await repository().delete(log.id, [own])).toBeUndefined();
      expect(await repository().delete(log.id, [other])).toBeDefined();
    });
  });
}
