import { expect, it } from '@jest/globals';
import { DOCUMENT_TEXT, type OpenApiDocument } from '../../test/support/open-api.js';
import { OWN_VENDOR } from './schema-attributes.js';
import { describeAttributes } from './service-document.js';

it('leads references by pointer to the schema in the document, and leaves the others as they are', () => {
  const jsonSchema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { text: { $anchor: 'text', type: 'string' } },
    properties: {
      a: { $ref: '#/$defs/text' },
      b: { $ref: '#' },
      c: { $ref: '#text' },
      $ref: { type: 'string' },
    },
  };
  const validate = () => ({ value: {} });
  const forms = { input: () => jsonSchema, output: () => jsonSchema };
  const schema = { '~standard': { version: 1, vendor: OWN_VENDOR, validate, jsonSchema: forms } } as const;
  const text = describeAttributes(DOCUMENT_TEXT, { schema, filters: new Map() });
  const { components } = JSON.parse(text) as OpenApiDocument;
  expect(components.schemas.Attributes).toEqual({
    type: 'object',
    $defs: jsonSchema.$defs,
    properties: {
      ...jsonSchema.properties,
      a: { $ref: '#/components/schemas/Attributes/$defs/text' },
      b: { $ref: '#/components/schemas/Attributes' },
    },
  });
});
