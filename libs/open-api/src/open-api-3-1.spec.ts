import { describe, expect, it } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { OperationObject, ResponseObject, SchemaObject } from './open-api.js';
import { openApi31 } from './open-api-3-1.js';
import { withExamples } from './schema-3-1.js';

const info = { title: 'A test', version: '1' };

/** The document of an app with these operations, each on a path of its own. */
function converted(...operations: Partial<OperationObject>[]) {
  const paths = operations.map((operation, index) => [`/${index}`, { get: { responses: {}, ...operation } }]);
  const document = { openapi: '3.0.0', info, components: {} };
  return openApi31({ ...document, paths: Object.fromEntries(paths) as OpenAPIObject['paths'] });
}

function answer(schema: SchemaObject, headers: ResponseObject['headers'] = {}): ResponseObject {
  return { description: 'One.', headers, content: { 'application/json': { schema } } };
}

describe('openApi31', () => {
  it('says in the words of 3.1 what 3.0 says otherwise', () => {
    const schema: SchemaObject = {
      allOf: [
        { type: 'number', minimum: 0, exclusiveMinimum: true, example: 7 },
        { type: 'array', minItems: 1, items: { type: 'string', enum: ['one'] } },
        { type: 'integer', minimum: 0, enum: [1, 2] },
        {
          oneOf: [
            { type: 'string', enum: ['either'] },
            { type: 'string', enum: ['or'] },
          ],
        },
      ],
    };
    const parameters = [
      { name: 'a', in: 'query' as const, schema: withExamples({ type: 'string' }, 'x', 'y') },
    ];
    expect(converted({ parameters, security: [{}], responses: { 200: answer(schema) } })).toEqual({
      openapi: '3.1.1',
      info,
      paths: {
        '/0': {
          get: {
            security: [],
            parameters: [{ name: 'a', in: 'query', schema: { type: 'string', examples: ['x', 'y'] } }],
            responses: {
              200: answer({
                allOf: [
                  { type: 'number', exclusiveMinimum: 0, examples: [7] },
                  { type: 'array', minItems: 1, items: { type: 'string', const: 'one' } },
                  { type: 'integer', minimum: 0, enum: [1, 2] },
                  {
                    oneOf: [
                      { type: 'string', const: 'either' },
                      { type: 'string', const: 'or' },
                    ],
                  },
                ],
              } as object),
            },
          },
        },
      },
      components: { schemas: {}, parameters: {}, headers: {}, responses: {} },
    });
  });

  it('describes each error once, with the examples of all, and when it comes in the words of each operation', () => {
    const error = (description: string, ...messages: string[]): ResponseObject => ({
      description,
      content: {
        'application/json': {
          schema: { type: 'string' },
          examples: Object.fromEntries(
            messages.map((value, index) => [index === 0 ? 'E' : `E_${index + 1}`, { value }]),
          ),
        },
      },
    });
    const document = {
      openapi: '3.0.0',
      info,
      paths: {
        '/0': { get: { responses: { 404: error('No log.', 'a', 'b'), 409: error('Once.', 'd') } } },
        '/1': { get: { responses: { 404: error('No path.', 'b', 'c') } } },
      },
      components: { responses: { 404: error('No path.', 'a') } },
    };
    const reference = { $ref: '#/components/responses/NotFound' };
    const { paths, components } = openApi31(document);
    const conflict = { $ref: '#/components/responses/Conflict' };
    expect(paths).toEqual({
      '/0': { get: { responses: { 404: { ...reference, description: 'No log.' }, 409: conflict } } },
      '/1': { get: { responses: { 404: reference } } },
    });
    expect(components.responses).toEqual({
      NotFound: error('No path.', 'a', 'b', 'c'),
      Conflict: error('Once.', 'd'),
    });
  });

  it('leaves an error of another form than the first of its status where it is', () => {
    const [text, number] = [answer({ type: 'string' }), answer({ type: 'number' })];
    const { paths, components } = converted({ responses: { 404: text } }, { responses: { 404: number } });
    expect(components).toMatchObject({ responses: { NotFound: text } });
    expect(paths).toMatchObject({ '/1': { get: { responses: { 404: number } } } });
  });

  it('names a schema by its title, at any depth', () => {
    const inner: SchemaObject = { title: 'Inner', type: 'string' };
    const outer: SchemaObject = { title: 'Outer', type: 'object', properties: { a: inner, b: inner } };
    const { paths, components } = converted({ responses: { 200: answer(outer) } });
    const reference = { $ref: '#/components/schemas/Inner' };
    expect(components).toMatchObject({
      schemas: {
        Inner: { type: 'string' },
        Outer: { type: 'object', properties: { a: reference, b: reference } },
      },
    });
    expect(JSON.stringify(paths)).toContain('{"schema":{"$ref":"#/components/schemas/Outer"}}');
  });

  it('does not take one schema for another of the same title', () => {
    const responses = {
      200: answer({ title: 'Same', type: 'string' }),
      201: answer({ title: 'Same', type: 'number' }),
    };
    expect(() => converted({ responses })).toThrow(
      'two schemas have the title Same: give one of them another',
    );
  });

  it('refers to what stands more than once, and leaves what stands once or has a name that is taken', () => {
    const often = { description: 'Often.', schema: { type: 'string' } };
    const once = { description: 'Once.', schema: { type: 'string' } };
    const parameters = [{ ...often, name: 'p', in: 'query' as const }];
    const refusal = answer({ type: 'string' }, { H: often });
    const { paths, components } = converted(
      { parameters, responses: { 404: refusal } },
      { parameters, responses: { 404: refusal, 200: answer({}, { H: once, O: once }) } },
      { responses: { 404: answer({ type: 'number' }) } },
      { responses: { 404: answer({ type: 'number' }) } },
    ) as unknown as { paths: Record<string, { get: OperationObject }>; components: object };
    const header = { $ref: '#/components/headers/H' };
    expect(components).toEqual({
      schemas: {},
      parameters: { p: parameters[0] },
      headers: { H: often },
      responses: { NotFound: { ...refusal, headers: { H: header } } },
    });
    const reference = { $ref: '#/components/responses/NotFound' };
    expect(paths['/0']!.get).toEqual({
      parameters: [{ $ref: '#/components/parameters/p' }],
      responses: { 404: reference },
    });
    expect(paths['/1']!.get.responses).toEqual({ 200: answer({}, { H: once, O: once }), 404: reference });
    expect(paths['/2']!.get.responses).toEqual({ 404: answer({ type: 'number' }) });
  });

  it('keeps the answers that belong to no operation', () => {
    const responses = { 405: answer({ type: 'string' }) };
    expect(
      openApi31({ openapi: '3.0.0', info, paths: {}, components: { responses } }).components,
    ).toMatchObject({
      responses: { MethodNotAllowed: responses[405] },
    });
  });
});
