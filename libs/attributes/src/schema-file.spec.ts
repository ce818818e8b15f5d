import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { SchemaAttributes } from './schema-attributes.js';
import { readSchemaFile } from './schema-file.js';

const directory = mkdtempSync(join(tmpdir(), 'attributes-'));
afterAll(() => rmSync(directory, { recursive: true }));

const FILE = join(directory, 'schema.json');
const read = (schema: unknown) => {
  writeFileSync(FILE, typeof schema === 'string' ? schema : JSON.stringify(schema));
  return readSchemaFile(FILE);
};
const ofProperty = (property: unknown, more = {}) =>
  read({ type: 'object', properties: { a: property }, additionalProperties: false, ...more });
const fail = (): never => {
  throw new Error('the file is accepted');
};
async function checkerOf(...schema: Parameters<typeof ofProperty>) {
  const { schema: standard, filters } = await ofProperty(...schema);
  return new SchemaAttributes(standard, undefined, undefined, filters);
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
      { type: 'number', minimum: 2, multipleOf: 2 },
      { a: 1 },
      'attributes.a must be at least 2',
      'attributes.a must be a multiple of 2',
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
    const { faults } = await (await checkerOf(property)).check(sent);
    expect(faults.map(({ message }) => message)).toEqual(messages);
  });

  it('checks missing attributes like an empty object, and applies defaults to a copy', async () => {
    const strict = await checkerOf({ type: 'string' }, { required: ['a'] });
    expect(await strict.check(undefined)).toMatchObject({
      faults: [{ message: 'attributes.a is required' }],
    });
    const lax = await checkerOf({ type: 'string' });
    expect([await lax.check(undefined), await lax.check({})]).toEqual([
      { faults: [] },
      { faults: [], input: {}, output: {} },
    ]);
    const sent = {};
    const defaults = await checkerOf({ type: 'string', default: 'x' });
    expect([await defaults.check(sent), await defaults.check(undefined), sent]).toEqual([
      { faults: [], input: {}, output: { a: 'x' } },
      { faults: [], output: { a: 'x' } },
      {},
    ]);
  });

  it('names the filters, whose texts have a maximum', async () => {
    const attributes = await checkerOf({ type: 'string', 'x-filter': true });
    expect([...attributes.filters]).toEqual([['a', 'string']]);
    expect(await attributes.check({ a: '😀'.repeat(255) })).toMatchObject({ faults: [] });
    expect(await attributes.check({ a: 'x'.repeat(256) })).toMatchObject({
      faults: [{ message: 'attributes.a must be at most 255 characters' }],
    });
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
    [
      'refers to another document',
      { type: 'object', properties: { a: { $ref: 'https://a.example/b' } } },
      "can't resolve reference https://a.example/b",
    ],
    [
      'filters by a list',
      { type: 'object', properties: { a: { type: 'array', 'x-filter': true } } },
      'attributes.a cannot be a filter: its type must be string, number, integer or boolean',
    ],
    [
      'filters by a bad name',
      { type: 'object', properties: { 'a-b': { type: 'string', 'x-filter': true } } },
      'attributes.a-b cannot be a filter: its name must be a letter, and at most 31 letters, digits and _',
    ],
    [
      'filters by a nested property',
      {
        type: 'object',
        properties: { a: { type: 'object', properties: { b: { type: 'string', 'x-filter': true } } } },
      },
      'x-filter is only for the properties of the outermost object',
    ],
    [
      'has 9 filters',
      {
        type: 'object',
        properties: Object.fromEntries(
          Array.from('abcdefghi', (name) => [name, { type: 'string', 'x-filter': true }]),
        ),
      },
      'logs can be filtered by at most 8 attributes',
    ],
  ])('is refused in one line if it %s', async (_what, schema, reason) => {
    const { message } = await read(schema).then(fail, (error: unknown) => error as Error);
    expect(message).toContain(reason);
    expect(message).toMatch(
      /^\S+schema.json cannot be the schema of attributes: .+ ATTRIBUTES_SCHEMA must name .+$/,
    );
  });

  it('is refused in one line if it is missing', async () => {
    await expect(readSchemaFile(join(directory, 'none'))).rejects.toThrow(/^\S+none cannot be .+ENOENT.+$/);
  });
});
