import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The text of the OpenAPI document of the service. The package for hosts has the text in this file. */
export const DOCUMENT_TEXT = readFileSync(
  join(import.meta.dirname, '..', 'api-docs', 'openapi.json'),
  'utf8',
);
