import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleInit, Optional } from '@nestjs/common';
import { DomainError } from '../../../libs/errors/src/index.js';
import { TimeLogRepository } from '../domain/time-log.repository.js';
import { TypeOrmTimeLogRepository } from './typeorm-time-log.repository.js';

/** Whether an adapter of a host in the place of ours has ours below it. */
export const WRAPS_TYPEORM_REPOSITORY = Symbol.for('time-logs.WRAPS_TYPEORM_REPOSITORY');

/**
 * Prepares our adapter at the start, and ends the start where its DataSource lacks something. It is not asked where
 * another one is in its place, and does not stand on it.
 */
@Injectable()
export class SchemaCheck implements OnModuleInit, OnApplicationBootstrap {
  private readonly ours: TypeOrmTimeLogRepository | undefined;

  constructor(
    repository: TimeLogRepository,
    @Optional() @Inject(TypeOrmTimeLogRepository) ours?: TypeOrmTimeLogRepository,
    @Optional() @Inject(WRAPS_TYPEORM_REPOSITORY) isBelow = false,
  ) {
    this.ours = repository instanceof TypeOrmTimeLogRepository ? repository : isBelow ? ours : undefined;
  }

  /** Throws DomainError SERVICE_UNAVAILABLE where the database is away. */
  async onModuleInit(): Promise<void> {
    await this.ours?.keepPositions();
  }

  /** Throws an Error that says what to do. */
  async onApplicationBootstrap(): Promise<void> {
    await this.ours?.requireTables().catch((error: unknown) => {
      // A database that is away for the moment lacks nothing.
      if (!(error instanceof DomainError)) throw error;
    });
  }
}
