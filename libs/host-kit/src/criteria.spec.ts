import { expect, it } from '@jest/globals';
import { ListTimeLogsDto, PageRequest, Period } from '../../../src/time-log/index.js';
import { criteriaOf } from './criteria.js';

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

it.each([
  { projectId: 'x' },
  { projectId: '' },
  { from: '2026-02-30' },
  { from: '2026-02-02', to: '2026-02-01' },
  { limit: '0' },
])('rejects a query that no DTO has checked: %j', (values) =>
  expect(() => criteriaOf(queryOf(values))).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' })),
);
