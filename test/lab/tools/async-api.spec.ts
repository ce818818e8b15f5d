import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';

const read = async (...names: string[]) =>
  JSON.parse(await readFile(join(import.meta.dirname, ...names), 'utf8')) as object;

it('the AsyncAPI document is valid for the schema of AsyncAPI 3.0', async () => {
  // The schema contains that of JSON Schema, which Ajv would add a second time.
  const ajv = new Ajv({ strict: false, meta: false, validateSchema: false });
  formats.default(ajv);
  const validate = ajv.compile(await read('node_modules/@asyncapi/specs/schemas/3.0.0.json'));
  const document = await read('../../../src/api-docs/asyncapi.json');
  validate(document);
  expect(validate.errors).toBeNull();
  expect(validate({ ...document, asyncapi: '2.0.0' })).toBe(false);
});
