import { writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { useFolder } from '../../../test/support/fixtures.js';
import { jsonSchemaOf } from '../attributes-document.js';
import { SchemaAttributeRules } from '../schema-attribute-rules.js';
import { readSchemaFile } from './schema-file.js';

const inFolder = useFolder('attributes-');
const read = (schema: unknown) => {
  const isContent = typeof schema === 'string' || Buffer.isBuffer(schema);
  writeFileSync(inFolder('schema.json'), isContent ? schema : JSON.stringify(schema));
  return readSchemaFile(inFolder('schema.json'));
};
const ofProperty = (property: unknown, more = {}) =>
  read({ type: 'object', properties: { a: property }, additionalProperties: false, ...more });
function attributesOfProperty(...schema: Parameters<typeof ofProperty>) {
  const { schema: standard, filters } = ofProperty(...schema);
  return new SchemaAttributeRules(standard, undefined, undefined, filters);
}

describe('a file with a schema', () => {
  it.each<[property: unknown, sent: unknown, ...messages: string[]]>([
    [{ type: 'string' }, { foo: 1 }, 'attributes.foo is unknown'],
    [{ type: 'string' }, { a: 1 }, 'attributes.a must be a string'],
    [{ type: 'boolean' }, { a: 'true' }, 'attributes.a must be true or false'],
    [{ type: 'integer' }, { a: 1.5 }, 'attributes.a must be a whole number'],
    [{ type: ['number', 'null'] }, { a: '' }, 'attributes.a must be a number or null'],
    [{ enum: ['x', 'y', 1] }, { a: 'secret' }, 'attributes.a must be one of x, y, 1'],
    [{ const: 'x' }, { a: 'secret' }, 'attributes.a must be x'],
    [{ type: 'string', minLength: 1 }, { a: '' }, 'attributes.a must be at least 1 character'],
    [{ type: 'string', pattern: '^x' }, { a: 'secret' }, 'attributes.a must match the pattern ^x'],
    [{ type: 'string', format: 'date' }, { a: '2026-02-30' }, 'attributes.a must be in the format date'],
    [
      { type: 'number', minimum: 2, multipleOf: 0.3 },
      { a: 1 },
      'attributes.a must be at least 2',
      'attributes.a must be a multiple of 0.3',
    ],
    [
      { type: 'array', items: { type: 'string' }, maxItems: 1 },
      { a: ['', 1] },
      'attributes.a must have at most 1 item',
      'attributes.a.1 must be a string',
    ],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, { a: 1 }, 'attributes.a is not valid'],
    [{ type: 'object', required: ['b'], properties: { b: {} } }, { a: {} }, 'attributes.a.b is required'],
  ])('reports what it refuses by name and rule: %j of %j', async (property, sent, ...messages) => {
    const { faults } = await attributesOfProperty(property).validate(sent);
    expect(faults.map(({ message }) => message)).toEqual(messages);
  });

  it.each<[what: string, schema: object, valid: object, invalid: object]>([
    [
      'every keyword',
      {
        ...{
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          $comment: '',
          title: '',
          description: '',
        },
        examples: [{ nullable: true }],
        allOf: [{ minProperties: 1 }],
        anyOf: [{ required: ['a'] }, { required: ['b'] }],
        oneOf: [{ required: ['a'] }, { required: ['b'] }],
        not: { required: ['a', 'b'] },
        ...{ if: { required: ['b'] }, then: { maxProperties: 1 }, else: true },
        propertyNames: { pattern: '^[ab]$', minLength: 1, maxLength: 1, format: 'regex' },
        patternProperties: { '^b': { minimum: 1, maximum: 9, exclusiveMinimum: 0, exclusiveMaximum: 10 } },
        dependentRequired: { a: [] },
        dependentSchemas: { a: { maxProperties: 1 } },
        unevaluatedProperties: false,
        properties: {
          a: { prefixItems: [true], items: true, contains: true, minContains: 0, maxContains: 9 },
          c: { minItems: 0, maxItems: 1, unevaluatedItems: true },
          d: { type: ['string', 'null'], readOnly: true, writeOnly: true, deprecated: true },
          e: { contentEncoding: 'base64', contentMediaType: 'application/json', contentSchema: true },
        },
      },
      { a: [1] },
      { a: [1], b: 1 },
    ],
    ['a schema that is a boolean', { properties: { a: false, b: true } }, { b: 1 }, { a: 1 }],
    ['an enum without values', { properties: { a: { enum: [] } } }, {}, { a: 1 }],
    [
      'references by pointer',
      { $defs: { 'a/b~c d': { type: 'string' } }, properties: { a: { $ref: '#/$defs/a~1b~0c%20d' } } },
      { a: '' },
      { a: 1 },
    ],
    [
      'dynamic references',
      { $dynamicAnchor: 'node', properties: { a: { $dynamicRef: '#node' }, b: { type: 'string' } } },
      { a: { b: '' } },
      { a: { b: 1 } },
    ],
    [
      'names of the prototype of objects',
      {
        properties: {
          constructor: { type: 'string', default: 'x' },
          toString: { type: 'number' },
          valueOf: {},
        },
        required: ['valueOf'],
      },
      { valueOf: 1 },
      {},
    ],
    [
      'decimals',
      { properties: { a: { multipleOf: 0.01 }, b: { multipleOf: 1e-7 } } },
      { a: 19.99, b: 0.3 },
      { a: 0.001 },
    ],
    [
      'unique objects with any member',
      { properties: { a: { uniqueItems: true } } },
      { a: [{ valueOf: 1 }, { toString: 1 }, [['toString', 1]], {}] },
      {
        a: [
          { valueOf: 1, b: 2 },
          { b: 2, valueOf: 1 },
        ],
      },
    ],
    [
      'constant objects with any member',
      { properties: { a: { const: { b: [1] } }, b: { enum: [{ c: 1 }, 1] } } },
      { a: { b: [1] }, b: { c: 1 } },
      { a: { b: [1], toString: 1 } },
    ],
  ])('may have any keyword of JSON Schema: %s', async (_what, schema, valid, invalid) => {
    const { schema: standard } = read({ type: 'object', ...schema });
    const attributes = new SchemaAttributeRules(standard);
    expect(await attributes.validate(valid)).toMatchObject({ faults: [], input: valid });
    expect((await attributes.validate(invalid)).faults).not.toEqual([]);
  });

  it('checks missing attributes like an empty object, and applies defaults to a copy', async () => {
    const strict = attributesOfProperty({ type: 'string' }, { required: ['a'] });
    expect(await strict.validate(undefined)).toMatchObject({
      faults: [{ message: 'attributes.a is required' }],
    });
    const lax = attributesOfProperty({ type: 'string' });
    expect([await lax.validate(undefined), await lax.validate({})]).toEqual([
      { faults: [] },
      { faults: [], input: {}, output: {} },
    ]);
    const sent = {};
    const defaults = attributesOfProperty({ type: 'string', default: 'x' });
    expect([await defaults.validate(sent), await defaults.validate(undefined), sent]).toEqual([
      { faults: [], input: {}, output: { a: 'x' } },
      { faults: [], output: { a: 'x' } },
      {},
    ]);
  });

  it.each<[property: object, type: string | undefined]>([
    ...['string', 'number', 'integer', 'boolean'].map((type): [object, string] => [{ type }, type]),
    [{ type: ['null', 'string'] }, 'string'],
    [{ type: 'array', items: { type: 'string' } }, 'strings'],
    [{ type: ['array', 'null'], items: { $ref: '#/$defs/text' } }, 'strings'],
    [{ $ref: '#/$defs/again' }, 'string'],
    [{ $ref: '#word' }, 'string'],
    [{ type: 'string', 'x-filter': false }, 'string'],
    [{ type: ['string', 'number'] }, undefined],
    [{ type: 'array' }, undefined],
    [{ type: 'array', items: { type: 'number' } }, undefined],
    [{ type: 'object' }, undefined],
    [{ enum: ['a'] }, undefined],
  ])('makes a filter of the property %j: %s', async (a, type) => {
    const { filters } = read({
      type: 'object',
      $defs: { text: { $anchor: 'word', type: 'string' }, again: { $ref: '#/$defs/text' } },
      properties: { a, 'b-c': { type: 'string' }, ['d'.repeat(33)]: { type: 'string' }, yes: true },
    });
    expect([...filters]).toEqual(type === undefined ? [] : [['a', type]]);
  });

  it.each<[what: string, schema: unknown, reason: string]>([
    ['is not JSON', '{\n"type"', 'JSON'],
    ['is not about an object', { type: 'array' }, 'it lacks "type": "object"'],
    [
      'is not a schema',
      { type: 'object', properties: [] },
      'schema is invalid: data/properties must be object',
    ],
    ['has an unknown keyword', { type: 'object', foo: 1 }, 'unknown keyword: "foo"'],
    [
      'has an unknown format',
      { type: 'object', properties: { a: { type: 'string', format: 'x' } } },
      'unknown format "x"',
    ],
    ...['$async', '$data', 'nullable', 'discriminator', 'formatMinimum', 'x-foo'].map(
      (keyword): [string, unknown, string] => [
        `has ${keyword}`,
        { type: 'object', [keyword]: true },
        `unknown keyword: "${keyword}" at #`,
      ],
    ),
    [
      'has one at any depth',
      { type: 'object', $defs: { 'a b/c': { anyOf: [{}, { not: { items: { $async: true } } }] } } },
      'unknown keyword: "$async" at #/$defs/a%20b~1c/anyOf/1/not/items',
    ],
    [
      'has an unknown format that is not used',
      { type: 'object', $defs: { a: { format: 'x' } } },
      'unknown format "x" at #/$defs/a',
    ],
    [
      'has a default of another type',
      { type: 'object', properties: { a: { type: 'string', default: 1 } } },
      'the default at #/properties/a is not valid by its own schema',
    ],
    [
      'has a default that a reference refuses',
      {
        type: 'object',
        $defs: { a: { maxLength: 1 } },
        properties: { b: { properties: { c: { $ref: '#/$defs/a', default: 'long' } } } },
      },
      'the default at #/properties/b/properties/c is not valid by its own schema',
    ],
    [
      'has a default that cannot be stored',
      `{"type":"object","properties":{"a":{"default":9007199254740993}}}`,
      'the default at #/properties/a must not contain a number above 9007199254740991 in magnitude',
    ],
    [
      'is of another version',
      { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' },
      'draft-07',
    ],
    [
      'refers to another document',
      { type: 'object', properties: { a: { $ref: 'https://a.example/b' } } },
      "can't resolve reference https://a.example/b",
    ],
  ])('is refused in one line if it %s', (_what, schema, reason) => {
    expect(() => read(schema)).toThrow(reason);
    expect(() => read(schema)).toThrow(
      /^\S+schema.json cannot be the schema of attributes: .+ ATTRIBUTES_SCHEMA must name .+$/,
    );
  });

  it('may have a byte order mark and the line ends of Windows', () => {
    const { schema } = read('\uFEFF{\r\n"type": "object"\r\n}\r\n');
    expect(jsonSchemaOf(schema)).toEqual({ type: 'object' });
    expect(() => read(Buffer.from('\uFEFF{"type":"object"}', 'utf16le'))).toThrow(
      /^\S+ cannot be the schema of attributes: .+ utf-8\. .+$/,
    );
  });

  it('is refused in one line if it is missing', () => {
    expect(() => readSchemaFile(inFolder('none'))).toThrow(/^\S+none cannot be .+ENOENT.+$/);
  });
});
