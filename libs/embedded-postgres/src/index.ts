/* Without it the service and its tests need an installed PostgreSQL. */

export { EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.js';
export { EmbeddedPostgresError } from './program.js';
