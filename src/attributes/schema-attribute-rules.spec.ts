import { describe, expect, it } from '@jest/globals';
import { TimeLog, type TimeLogValues } from '../time-log/index.js';
import { type AttributesSchema, SchemaAttributeRules } from './schema-attribute-rules.js';

const values = { projectId: '11111111-1111-1111-1111-111111111111', duration: 1, date: '2026-01-31' };
const ID = '019c1363-4a3b-7245-b697-5dec9f548a52';

type SchemaResult = Awaited<ReturnType<AttributesSchema['~standard']['validate']>>;

/** Returns attributes with this validation. */
const attributesBy = (validate: (value: unknown) => SchemaResult | Promise<SchemaResult>) =>
  new SchemaAttributeRules(
    { '~standard': { version: 1, vendor: 'test', validate } },
    { depth: 7, bytes: 1_000 },
  );
/** Records values with their attributes as a schema converts them. */
const recorded = async (schema: SchemaAttributeRules, sent: TimeLogValues) =>
  TimeLog.of(sent, ID, await schema.validate(sent.attributes));
const rejecting = (...issues: Extract<SchemaResult, { issues: readonly object[] }>['issues']) =>
  attributesBy(() => ({ issues }));

describe('attributes that a schema rejects', () => {
  it('are reported with the path to each value and its rule', async () => {
    const attributes = rejecting(
      { message: 'must be a ticket', path: ['list', 0, { key: 'ticket' }] },
      { message: 'must have a ticket' },
      { message: 'muss größer sein', path: [] },
    );
    const { faults } = await attributes.validate({});
    expect(faults.map(({ field, rule, message }) => [field, rule, message])).toEqual([
      ['attributes.list.0.ticket', 'schema', 'attributes.list.0.ticket must be a ticket'],
      ['attributes', 'schema', 'attributes must have a ticket'],
      ['attributes', 'schema', 'attributes muss größer sein'],
    ]);
  });

  it.each<[string, unknown, string, string]>([
    ['as valibot does', { a: 'secret' }, 'Invalid email: Received "secret"', 'attributes.a is not valid'],
    ['as arktype does', { a: 12345 }, 'a must be less than 5 (was 12345)', 'attributes.a is not valid'],
    ['within an object', { a: { b: ['secret'] } }, 'no "secret" here', 'attributes.a is not valid'],
    ['not at all', { a: 'x' }, 'Expected a number', 'attributes.a Expected a number'],
    [
      'only as a part of a word',
      { a: 1 },
      'Too small: expected >=10',
      'attributes.a Too small: expected >=10',
    ],
    ['in another value', { a: 1, b: 'secret' }, 'no secret', 'attributes.a no secret'],
  ])(
    'are reported without values, even if the message of the schema has them: %s',
    async (_what, sent, message, fault) => {
      expect(await rejecting({ message, path: ['a'] }).validate(sent)).toMatchObject({
        faults: [{ message: fault }],
      });
    },
  );

  it('are reported in bounded and printable text, whatever names were sent', async () => {
    const many = Array.from({ length: 50 }, () => ({
      message: `\u0000\u202e\n${'m'.repeat(500)}`,
      path: Array.from({ length: 20 }, () => `é\u0007${'n'.repeat(100)}`),
    }));
    const { faults } = await rejecting(...many).validate({});
    const field = `attributes.${Array(8)
      .fill(`??${'n'.repeat(38)}`)
      .join('.')}`;
    const logged = 'attributes must obey their schema';
    const fault = { field, rule: 'schema', params: {}, message: `${field} ???${'m'.repeat(197)}`, logged };
    expect(faults).toEqual(Array(10).fill(fault));
  });
});

describe('values with attributes', () => {
  const doubling = attributesBy(async (value) => ({ value: { doubled: 2 * (value as { n: number }).n } }));

  it('are converted by the schema, once', async () => {
    const applied = await recorded(doubling, { ...values, attributes: { n: 2 } });
    expect(applied.attributes).toEqual({ doubled: 4 });
  });

  it.each([null, [], 5, 'text', true])('must be an object, whatever the schema accepts: %j', async (sent) => {
    const any = attributesBy((value) => ({ value }));
    expect(await any.validate(sent)).toMatchObject({ faults: [{ message: 'attributes must be an object' }] });
  });

  it('are missing if the schema returns null', async () => {
    expect((await attributesBy(() => ({ value: null })).validate(undefined)).output).toBeUndefined();
  });

  it('are frozen', async () => {
    const any = attributesBy((value) => ({ value }));
    const { attributes } = await recorded(any, { ...values, attributes: { list: [{ n: 1 }] } });
    const { list } = attributes as { list: [{ n: number }] };
    expect(() => (list[0].n = 2)).toThrow(TypeError);
    expect(() => Object.assign(attributes!, { more: 1 })).toThrow(TypeError);
  });

  it('tell what was sent, also if the schema changes its argument', async () => {
    const careless = attributesBy((value) => ({ value: Object.assign(value as object, { b: 2 }) }));
    expect(await careless.validate({ a: 1 })).toEqual({
      faults: [],
      input: { a: 1 },
      output: { a: 1, b: 2 },
    });
  });

  it('are a copy that the host cannot change', async () => {
    const kept = { list: [1] };
    const applied = await recorded(
      attributesBy(() => ({ value: kept })),
      values,
    );
    kept.list.push(2);
    expect(applied.attributes).toEqual({ list: [1] });
  });
});

describe('values to which a caller is bound', () => {
  const bound = { userId: 'ada', team: 1 };
  const validate = (value: unknown) => ({ value });
  const any = new SchemaAttributeRules(
    { '~standard': { version: 1, vendor: 'test', validate } },
    undefined,
    undefined,
    new Map([['userId', 'string']]),
  );

  it.each<[sent: unknown, all: object]>([
    [undefined, { userId: 'ada' }],
    [{ a: 1 }, { userId: 'ada', a: 1 }],
    [{ userId: 'bob' }, { userId: 'bob' }],
  ])('are added to %j before the schema if they have a filter, and count as sent', async (sent, all) => {
    expect(await any.validate(sent, bound)).toEqual({ faults: [], input: all, output: all });
  });

  it('are missing from the output of a schema without one, so that the access refuses it', async () => {
    const none = attributesBy(() => ({ value: undefined }));
    expect((await none.validate({}, bound)).output).toEqual({});
  });
});
