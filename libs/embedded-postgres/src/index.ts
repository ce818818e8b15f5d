/* Without it nobody can run the service or its tests before they have installed PostgreSQL. */

export { EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.js';
export { EmbeddedPostgresError } from './embedded-postgres.error.js';
