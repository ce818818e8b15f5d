import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleInit, Optional } from '@nestjs/common';
import { DomainError } from '../../../libs/errors/src/index.js';
import { TimeLogRepository } from '../domain/time-log.repository.js';
import { TypeOrmTimeLogRepository } from './typeorm-time-log.repository.js';

/** The token that is provided if an adapter of a host wraps TypeOrmTimeLogRepository. */
export const WRAPS_TYPEORM_REPOSITORY = Symbol.for('time-logs.WRAPS_TYPEORM_REPOSITORY');

/**
 * Prepares TypeOrmTimeLogRepository, or ends the startup if entities, tables or functions are missing.
 * Does nothing if an adapter of a host replaces that repository without wrapping it.
 */
@Injectable()
export class SchemaCheck implements OnModuleInit, OnApplicationBootstrap {
  private readonly store: TypeOrmTimeLogRepository | undefined;

  constructor(
    repository: TimeLogRepository,
    @Optional() @Inject(TypeOrmTimeLogRepository) wrapped?: TypeOrmTimeLogRepository,
    @Optional() @Inject(WRAPS_TYPEORM_REPOSITORY) isWrapped = false,
  ) {
    this.store =
      repository instanceof TypeOrmTimeLogRepository ? repository : isWrapped ? wrapped : undefined;
  }

  /** Throws DomainError SERVICE_UNAVAILABLE if the database is unavailable. */
  async onModuleInit(): Promise<void> {
    await this.store?.keepPositions();
  }

  /** Throws an Error that says what to do. */
  async onApplicationBootstrap(): Promise<void> {
    await this.store?.requireTables().catch((error: unknown) => {
      // An unavailable database may be complete.
      if (!(error instanceof DomainError)) throw error;
    });
  }
}
