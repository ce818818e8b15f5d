import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** The prefix of the references of the document, made absolute. */
export const ROOT = 'openapi.json#/';

/** A document, closed: an answer may not have members that it does not name. */
const closed = (name) =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, '..', '..', 'src', 'api-docs', name), 'utf8').replaceAll(
      '"#/',
      `"${name}#/`,
    ),
    (_name, value) =>
      value?.type === 'object' && value.properties && value.additionalProperties === undefined
        ? { ...value, unevaluatedProperties: false }
        : value,
  );
export const document = closed('openapi.json');

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(document, 'openapi.json');
ajv.addSchema(closed('asyncapi.json'), 'asyncapi.json');

/** The validator of a schema of the document: compiled once for all test files of a worker. */
export const validatorOf = (schema) => ajv.compile(schema);
