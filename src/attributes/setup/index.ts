/* Only the service reads its schema from a file. This entry loads ajv, which hosts do without. */

export { readSchemaFile } from './schema-file.js';
