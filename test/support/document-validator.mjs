import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** The prefix of the references of the document, made absolute. */
export const ROOT = 'openapi.json#/';

const FILE = join(import.meta.dirname, '..', '..', 'src', 'api-docs', 'openapi.json');
/** The document, closed: an answer may not have members that it does not name. */
export const document = JSON.parse(
  readFileSync(FILE, 'utf8').replaceAll('"#/', `"${ROOT}`),
  (_name, value) =>
    value?.type === 'object' && value.properties && value.additionalProperties === undefined
      ? { ...value, unevaluatedProperties: false }
      : value,
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(document, 'openapi.json');

/** The validator of a schema of the document: compiled once for all test files of a worker. */
export const validatorOf = (schema) => ajv.compile(schema);
