export { EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.js';
export { EmbeddedPostgresError } from './embedded-postgres.error.js';
