import { Module } from '@nestjs/common';
import { DatabaseMeasures } from './database.measures.js';
import { Database } from './database.js';

/** The door to SQL, for any DataSource: our own or a host's. */
@Module({ providers: [Database, DatabaseMeasures], exports: [Database] })
export class DatabaseModule {}
