import type { ModuleMetadata } from '@nestjs/common';
import { AttributeRules } from '../time-log/domain/attribute-rules.js';
import { TypeOrmTimeLogRepository } from '../time-log/infrastructure/typeorm-time-log.repository.js';
import { TotalsService } from './application/totals.service.js';
import { TotalsRepository } from './domain/totals.js';
import { TypeOrmTotalsRepository } from './infrastructure/typeorm-totals.repository.js';

/** The providers of totals. */
export const TOTALS = {
  providers: [
    {
      provide: TotalsRepository,
      inject: [TypeOrmTimeLogRepository],
      useFactory: (logs: TypeOrmTimeLogRepository) => new TypeOrmTotalsRepository(logs),
    },
    {
      provide: TotalsService,
      inject: [TotalsRepository, AttributeRules],
      useFactory: (repository: TotalsRepository, rules: AttributeRules) =>
        new TotalsService(repository, rules),
    },
  ],
  exports: [TotalsRepository, TotalsService],
} satisfies ModuleMetadata;
