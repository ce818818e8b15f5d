import { Test } from '@nestjs/testing';
import { getRepositoryToken } from '@nestjs/typeorm';
import { InMemoryTimeLogRepository } from 'time-logs/testing';
import { TimeLogCoreModule, TimeLogRepository, TimeLogService } from 'time-logs/time-log';
import { Approval } from './approval.entity';
import { ApprovalsService } from './approvals.service';

const WORK = {
  projectId: '11111111-1111-1111-1111-111111111111',
  duration: 1.5,
  description: '',
  date: '2026-01-31',
};

/** Without a database. */
describe('ApprovalsService', () => {
  let approvals: ApprovalsService;
  let timeLogs: TimeLogService;

  beforeEach(async () => {
    const module = await Test.createTestingModule({
      imports: [TimeLogCoreModule],
      providers: [
        ApprovalsService,
        { provide: getRepositoryToken(Approval), useValue: { save: async (approval: Approval) => approval } },
      ],
    })
      .overrideProvider(TimeLogRepository)
      .useClass(InMemoryTimeLogRepository)
      .compile();
    approvals = module.get(ApprovalsService);
    timeLogs = module.get(TimeLogService);
  });

  it('approves a log', async () => {
    const { id } = await timeLogs.record(WORK);
    expect(await approvals.approve(id, 'ada')).toEqual({ logId: id, approvedBy: 'ada' });
  });

  it('approves nothing that was not recorded', async () => {
    const approval = approvals.approve('01900000-0000-7000-8000-000000000000', 'ada');
    await expect(approval).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
