import { describe, expect, it } from '@jest/globals';
import { scopes } from '../../src/app.module.js';
import { DOCUMENT_TEXT, type OpenApiDocument, type Operation } from '../support/open-api.js';

const openApiDocument = JSON.parse(DOCUMENT_TEXT) as OpenApiDocument;
const operations = Object.entries(openApiDocument.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation!]),
);

/** The scopes of operations on time logs. */
const SCOPES = { get: 'read', post: 'write', put: 'correct', patch: 'correct', delete: 'correct' };
/** A new operation is added here, if it is not on time logs. */
const SECURITY_OF_OTHERS: Readonly<Record<string, object[]>> = {
  'get /health': [{ bearer: [] }],
  'get /metrics': [{ bearer: ['metrics:read'] }],
  'get /livez': [],
  'get /readyz': [],
  'get /openapi.json': [],
};
const FURTHER_STATUSES: Readonly<Record<string, number[]>> = {
  'post /api/v1/time-logs': [422],
  'post /api/v1/time-logs/batch': [422],
  'put /api/v1/time-logs/{id}': [412],
  'patch /api/v1/time-logs/{id}': [412],
  'delete /api/v1/time-logs/{id}': [412],
  'get /api/v1/time-logs/events': [410],
};

/**
 * The keywords of schemas that openapi-generator, openapi-typescript, oapi-codegen, NSwag and Kiota take: some of
 * OpenAPI 3.0. With `const` of a boolean, for example, clients for Kotlin, PHP and Python do not run, and oapi-codegen
 * reads no document with a number as `exclusiveMinimum`.
 */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...['$ref', 'type', 'format', 'description', 'default', 'examples', 'enum', 'anyOf', 'oneOf'],
  ...['properties', 'required', 'additionalProperties', 'items', 'minItems', 'maxItems'],
  ...['minLength', 'maxLength', 'pattern', 'minimum', 'maximum'],
]);

interface AnySchema {
  readonly $ref?: string;
  readonly type?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
}

/** Returns all schemas of a part of the document, with their places. */
function schemasIn(part: object, place = '#', isSchema = false): [string, AnySchema][] {
  const inner = Object.entries(part).flatMap(([name, value]: [string, unknown]) => {
    // Examples and defaults are values.
    if (typeof value !== 'object' || value === null || /^(examples?|default|enum)$/.test(name)) return [];
    const hasSchemas = /^(schemas|properties|anyOf|oneOf|allOf)$/.test(name);
    const found = Object.entries(hasSchemas ? value : {}).flatMap(([key, schema]: [string, object]) =>
      schemasIn(schema, `${place}/${name}/${key}`, true),
    );
    return hasSchemas ? found : schemasIn(value, `${place}/${name}`, name === 'schema' || name === 'items');
  });
  return isSchema ? [[place, part], ...inner] : inner;
}

describe('the OpenAPI document', () => {
  it('names every scope, and every path that is open', () => {
    const { description } = openApiDocument.components.securitySchemes.bearer!;
    const named = [...description.matchAll(/^- `(.+)`: ./gm)].map(([, name]) => name);
    expect(named).toEqual(scopes);
    const open = operations
      .filter(([, { security }]) => security?.length === 0)
      .map(([name]) => `\`${name.split(' ')[1]}\``);
    expect(openApiDocument.info.description).toContain(
      `Only ${open.join(', ')} and \`/docs\` need no token.`,
    );
  });

  it.each(operations)('asks for the scope that fits, or says who else may: %s', (name, operation) => {
    const [method] = name.split(' ') as [keyof typeof SCOPES];
    const security = name.includes(' /api/v1/time-logs')
      ? [{ bearer: [`time-logs:${SCOPES[method]}`] }]
      : SECURITY_OF_OTHERS[name];
    expect(operation.security ?? openApiDocument.security).toEqual(security);
  });

  it.each(operations)('has every status that follows from what it asks for: %s', (name, operation) => {
    const [asked] = (operation.security ?? openApiDocument.security) as { readonly bearer: string[] }[];
    const [success] = Object.keys(operation.responses).map(Number);
    const statuses = [
      ...[success, 400, 408, 417, 431],
      ...(asked ? [401] : []),
      ...(asked && asked.bearer.length > 0 ? [403] : []),
      ...(name.includes('{') ? [404] : []),
      ...(operation.requestBody ? [413, 415] : []),
      ...(name.includes(' /api/') ? [429] : []),
      ...(/livez|openapi/.test(name) ? [] : [500, 503]),
      ...(FURTHER_STATUSES[name] ?? []),
    ].toSorted();
    expect(success).toBeLessThan(300);
    expect(Object.keys(operation.responses).map(Number)).toEqual(statuses);
  });

  it.each(schemasIn(openApiDocument))('has only what generators of clients take: %s', (_place, schema) => {
    expect(Object.keys(schema).filter((keyword) => !KEYWORDS.has(keyword))).toEqual([]);
    if (schema.$ref !== undefined) expect(Object.keys(schema)).toEqual(['$ref']);
    // A list is an error for oapi-codegen, ogen and others.
    expect(['string', 'undefined']).toContain(typeof schema.type);
    // Generated enums of other types do not compile in Java, C# and Kotlin; those of formats have no type of their own.
    if (schema.enum) expect([schema.type, schema.format]).toEqual(['string', undefined]);
    // The clients for C# and Python apply the pattern to a date, for which it is not meant.
    if (schema.pattern !== undefined) expect([schema.type, schema.format]).toEqual(['string', undefined]);
    // Go and .NET have no lookaround, or other escapes.
    expect(schema.pattern ?? '').not.toMatch(/\(\?|\\[pPuck]/);
  });

  it('has only relative references to its own paths', () => {
    const { servers } = openApiDocument as typeof openApiDocument & { servers: { url: string }[] };
    expect(servers.map(({ url }) => url)).toEqual(['.']);
    expect(DOCUMENT_TEXT).not.toMatch(/<\/|\]\(\//);
  });
});
