import type { ModuleMetadata } from '@nestjs/common';
import { TotalsController } from './api/totals.controller.js';
import { AttributeRules } from '../time-log/domain/attribute-rules.js';
import { TypeOrmTimeLogRepository } from '../time-log/infrastructure/typeorm-time-log.repository.js';
import { TotalsService } from './application/totals.service.js';
import { TotalsRepository } from './domain/totals.js';
import { TypeOrmTotalsRepository } from './infrastructure/typeorm-totals.repository.js';

/** The controller and the providers of totals. */
export const TOTALS: Required<Pick<ModuleMetadata, 'controllers' | 'providers' | 'exports'>> = {
  controllers: [TotalsController],
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
};
