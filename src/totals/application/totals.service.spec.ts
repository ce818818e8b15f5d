import { expect, it } from '@jest/globals';
import { newLog } from '../../../libs/host-kit/src/contract/new-log.js';
import { PageRequest } from '../../time-log/domain/page-request.js';
import { Period } from '../../time-log/domain/period.js';
import { InMemoryTimeLogRepository } from '../../../libs/host-kit/src/testing/index.js';
import { TotalsService } from './totals.service.js';

it('adds up matching logs, and returns groups if a grouping is given', async () => {
  const repository = new InMemoryTimeLogRepository();
  for (const duration of [0.1, 0.2]) await repository.add(newLog({ duration, date: '2026-01-31' }));
  const service = new TotalsService(repository);
  const everything = { period: Period.of() };
  const whole = { count: 2, duration: '0.3' };
  expect(await service.totals(everything)).toEqual({ whole, groups: [], groupCount: 0 });
  expect(await service.totals(everything, 'month')).toEqual({
    whole,
    groups: [{ from: '2026-01-01', to: '2026-01-31', ...whole }],
    groupCount: 1,
  });
  const second = await service.totals(everything, 'month', PageRequest.of(2, 1));
  expect(second).toEqual({ whole, groups: [], groupCount: 1 });
});
