import { migrationsOf } from './infrastructure/schema/released.js';

/** The migrations of time logs, in order. */
export const timeLogMigrations = ['0.1', '0.2', '0.3'].flatMap(migrationsOf);
