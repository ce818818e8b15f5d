import { expect, it } from '@jest/globals';
import { ExportService } from '../../../src/export/index.js';
import { ListTimeLogsDto, PageRequest, Period, TimeLogService } from '../../../src/time-log/index.js';
import { TotalsService } from '../../../src/totals/index.js';
import { criteriaOf } from './criteria.js';
import { InMemoryTimeLogRepository } from './testing/in-memory-time-log.repository.js';

const queryOf = (values: object) => Object.assign(new ListTimeLogsDto(), values);

it('makes filter and page of a query', () => {
  const projectId = '0A000000-0000-4000-8000-000000000001';
  const other = '00000000-0000-0000-0000-000000000000';
  const projects = [projectId, other, projectId.toLowerCase()].join();
  expect(criteriaOf(queryOf({ projectId: projects, from: '2026-01-31T09:30:00Z', limit: '7' }))).toEqual({
    filter: { projectIds: [projectId.toLowerCase(), other], period: Period.of('2026-01-31') },
    page: PageRequest.of(1, 7),
  });
});

it.each([{ from: '2026-02-30' }, { from: '2026-02-02', to: '2026-02-01' }, { limit: '0' }])(
  'rejects a query that no DTO has checked: %j',
  (values) =>
    expect(() => criteriaOf(queryOf(values))).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' })),
);

it('reads nothing with the earlier name of a filter, which would match all projects', async () => {
  const [filter, page] = [
    { projectId: '00000000-0000-0000-0000-000000000000', period: Period.of() },
    PageRequest.of(1, 1),
  ];
  const repository = new InMemoryTimeLogRepository();
  const timeLogs = new TimeLogService(repository, { next: () => '' });
  for (const call of [
    () => timeLogs.list(filter, page),
    () => timeLogs.items(filter, page),
    () => new TotalsService(repository).totals(filter),
    () => new ExportService(repository).export(filter, 'csv', () => Promise.resolve()),
  ])
    await expect(call()).rejects.toThrow('TimeLogFilter.projectId is called projectIds now, an array');
});
