import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/index.js';
import { HealthController } from './health.controller.js';

/** Provides the health checks. It needs a DataSource and BearerAuthModule. */
@Module({ imports: [DatabaseModule], controllers: [HealthController] })
export class HealthModule {}
