import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { DomainError } from '../../../libs/errors/src/index.js';
import { TimeLogRepository } from '../domain/time-log.repository.js';
import { TypeOrmTimeLogRepository } from './typeorm-time-log.repository.js';

/**
 * Prepares the adapter at the start, and ends the start where its DataSource lacks something. Another adapter in its
 * place is not asked.
 */
@Injectable()
export class SchemaCheck implements OnModuleInit, OnApplicationBootstrap {
  constructor(private readonly repository: TimeLogRepository) {}

  /** Throws DomainError SERVICE_UNAVAILABLE where the database is away. */
  async onModuleInit(): Promise<void> {
    if (this.repository instanceof TypeOrmTimeLogRepository) await this.repository.keepPositions();
  }

  /** Throws an Error that says what to do. */
  async onApplicationBootstrap(): Promise<void> {
    if (!(this.repository instanceof TypeOrmTimeLogRepository)) return;
    await this.repository.requireTables().catch((error: unknown) => {
      // A database that is away for the moment lacks nothing.
      if (!(error instanceof DomainError)) throw error;
    });
  }
}
