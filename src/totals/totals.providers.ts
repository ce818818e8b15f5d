import type { ModuleMetadata } from '@nestjs/common';
import { TimeLogAttributes } from '../time-log/domain/attributes.js';
import { TimeLogRepository } from '../time-log/domain/time-log.repository.js';
import { TypeOrmTimeLogRepository } from '../time-log/infrastructure/typeorm-time-log.repository.js';
import { TotalsService } from './application/totals.service.js';
import { TotalsRepository } from './domain/totals.repository.js';
import { TypeOrmTotalsRepository } from './infrastructure/typeorm-totals.repository.js';

/** The providers of totals. Service and port are undefined if the store of time logs has no totals. */
export const TOTALS = {
  providers: [
    {
      provide: TotalsRepository,
      inject: [TimeLogRepository],
      useFactory: (logs: TimeLogRepository & Partial<TotalsRepository>): TotalsRepository | undefined => {
        if (logs.totals) return logs as TotalsRepository;
        return logs instanceof TypeOrmTimeLogRepository ? new TypeOrmTotalsRepository(logs) : undefined;
      },
    },
    {
      provide: TotalsService,
      inject: [{ token: TotalsRepository, optional: true }, TimeLogAttributes],
      useFactory: (repository: TotalsRepository | undefined, attributes: TimeLogAttributes) =>
        repository && new TotalsService(repository, attributes),
    },
  ],
  exports: [TotalsRepository, TotalsService],
} satisfies ModuleMetadata;
