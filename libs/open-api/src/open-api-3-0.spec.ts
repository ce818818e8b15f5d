import { expect, it } from '@jest/globals';
import { toOpenApi30 } from './open-api-3-0.js';

const values = { one: { value: { const: 1, examples: ['kept'] } } };
const refusal = { description: 'None.', headers: { H: { $ref: '#/components/headers/H' } } };
const document = {
  openapi: '3.1.1',
  paths: {
    '/a': {
      get: {
        parameters: [{ $ref: '#/components/parameters/q' }],
        responses: {
          200: {
            description: 'One.',
            content: {
              'application/json': { schema: { $ref: '#/components/schemas/One' }, examples: values },
            },
          },
          404: { $ref: '#/components/responses/NotFound', description: 'None of these.' },
          410: { $ref: '#/components/responses/NotFound' },
        },
      },
    },
  },
  components: {
    parameters: { q: { name: 'q', in: 'query', schema: { type: 'string', examples: ['x', 'y'] } } },
    headers: { H: { schema: { type: 'integer', examples: [7] } } },
    responses: { NotFound: refusal },
    schemas: {
      One: { allOf: [{ type: 'number', exclusiveMinimum: 0 }, { $ref: '#/components/schemas/Two' }] },
      Two: { type: 'array', items: { type: ['string', 'null'], const: 'two' } },
    },
  },
};

it('translates a document to OpenAPI 3.0, with references only to schemas', () => {
  const { paths, components } = toOpenApi30(document);
  const translated = { ...refusal, headers: { H: { schema: { type: 'integer', example: 7 } } } };
  expect(paths).toEqual({
    '/a': {
      get: {
        parameters: [{ name: 'q', in: 'query', schema: { type: 'string', 'x-examples': ['x', 'y'] } }],
        responses: {
          200: document.paths['/a'].get.responses[200],
          404: { ...translated, description: 'None of these.' },
          410: translated,
        },
      },
    },
  });
  expect(components.schemas).toEqual({
    One: {
      allOf: [{ type: 'number', minimum: 0, exclusiveMinimum: true }, { $ref: '#/components/schemas/Two' }],
    },
    Two: { type: 'array', items: { type: 'string', nullable: true, enum: ['two'] } },
  });
});
