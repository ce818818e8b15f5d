import { Module } from '@nestjs/common';
import { DatabaseMeasures } from './database.measures.js';
import { Database } from './database.js';

/** The door to SQL over whatever DataSource the app has, ours or a host's. */
@Module({ providers: [Database, DatabaseMeasures], exports: [Database] })
export class DatabaseModule {}
