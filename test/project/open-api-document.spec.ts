import { STATUS_CODES } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { ERROR_KINDS } from '../../libs/errors/src/index.js';
import { MAX_JSON_DEPTH } from '../../libs/strict-request/src/index.js';
import { loadConfig } from '../../src/process/config.js';
import { EVENT_ID_PATTERN, FEED_GONE, OPAQUE_CURSOR_PATTERN } from '../../src/feed/domain/time-log-event.js';
import { PROJECT_NOT_ALLOWED } from '../../src/time-log/domain/time-log-access.js';
import {
  MAX_IDEMPOTENCY_KEY_LENGTH,
  IDEMPOTENCY_KEY_REUSED,
  idempotencyKeyFault,
} from '../../src/time-log/domain/idempotency-key.js';
import { DEFAULT_PAGE, MAX_PAGE_LIMIT, pageLimitFault } from '../../src/time-log/domain/page-request.js';
import { TIME_LOG_CHANGED, VERSION_EXCLUDED } from '../../src/time-log/domain/time-log.repository.js';
import { UUID_PATTERN } from '../../libs/auth/src/project-ids.js';
import { TIME_LOG_FIELDS } from '../../src/time-log/domain/time-log.js';
import {
  MAX_DESCRIPTION_LENGTH,
  descriptionFault,
  UUIDS_PATTERN,
} from '../../src/time-log/domain/time-log.rules.js';
import { DEFAULT_EVENT_SOURCE } from '../../src/time-log/time-log.options.js';
import { GROUPINGS } from '../../src/totals/domain/totals.js';
import { LISTED_FIELDS } from '../../src/time-log/domain/time-log-item.js';
import { scopes } from '../support/compiled.js';
import { DOCUMENT_TEXT, type OpenApiDocument, type Operation, type Response } from '../support/open-api.js';

const openApiDocument = JSON.parse(DOCUMENT_TEXT) as OpenApiDocument;
const operations = Object.entries(openApiDocument.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation!]),
);

/** Returns the description of a response or of a reference to one. */
function resolved(response: Operation['responses'][string]): Response {
  return '$ref' in response
    ? openApiDocument.components.responses[response.$ref.split('/').at(-1)!]!
    : response;
}

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

const kinds = [...Object.values(ERROR_KINDS), FEED_GONE, TIME_LOG_CHANGED, IDEMPOTENCY_KEY_REUSED].toSorted(
  (a, b) => a.status - b.status,
);
/** The error of a status. */
const responseOf = (status: number) =>
  openApiDocument.components.responses[STATUS_CODES[status]!.replaceAll(' ', '')]!;

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
  it('refers to nothing that is not there, and names nothing that is not used but 405', () => {
    const { components } = openApiDocument;
    const named = Object.entries(components).flatMap(([kind, entries]) =>
      Object.keys(entries).map((name) => `#/components/${kind}/${name}`),
    );
    const used = [...DOCUMENT_TEXT.matchAll(/"\$ref": "([^"]+)"/g)].map(([, reference]) => reference!);
    expect(used.filter((reference) => !named.includes(reference))).toEqual([]);
    expect(named.filter((name) => !used.includes(name))).toEqual([
      '#/components/securitySchemes/bearer',
      '#/components/responses/MethodNotAllowed',
    ]);
  });

  it('describes each error once: operations refer to it, and at most say when it comes', () => {
    const errors = operations.flatMap(([, { responses }]) =>
      Object.entries(responses).filter(([status]) => Number(status) >= 400),
    );
    expect(errors.length).toBeGreaterThan(50);
    for (const [, answer] of errors) {
      expect(answer).toHaveProperty('$ref');
      expect(Object.keys(answer).filter((key) => key !== '$ref' && key !== 'description')).toEqual([]);
    }
    const rows = kinds.map(
      ({ code, status }) => `| ${status} | \`${code}\` | ${responseOf(status).description} |`,
    );
    expect(openApiDocument.info.description.split('\n').filter((line) => /^\| \d/.test(line))).toEqual(rows);
    const { error } = openApiDocument.components.schemas.ErrorBody!.properties as { error: object };
    expect(error).toHaveProperty(
      'enum',
      kinds.map(({ code }) => code),
    );
  });

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

  it('has the limits of a deployment without settings', () => {
    const { headersTimeout, requestTimeout, bodyLimit, batchLimit, headersLimit } = loadConfig(
      {},
      false,
    ).limits;
    const body = `${bodyLimit / 1024} KiB`;
    const batch = `${batchLimit / 1024 ** 2} MiB`;
    const [first, all] = [headersTimeout / 1000, requestTimeout / 1000];
    expect(responseOf(408).description).toContain(`within ${first} seconds, or the request within ${all}.`);
    expect(responseOf(413).description).toContain(`over ${body}, or a batch over ${batch}, unless`);
    for (const limit of [bodyLimit, batchLimit])
      expect(JSON.stringify(responseOf(413))).toContain(`must be at most ${limit} bytes`);
    expect(responseOf(431).description).toContain(`over ${headersLimit / 1024} KiB.`);
    const bodies = operations.flatMap(([name, { requestBody }]) =>
      requestBody ? [[name, requestBody.description] as const] : [],
    );
    expect(bodies.length).toBeGreaterThan(1);
    for (const [name, description] of bodies) {
      const limit = name.endsWith('/batch') ? `${batch}, unless ` : `${body}: `;
      expect(description).toMatch(new RegExp(`^At most ${limit}`));
      expect(description).toContain(`nested at most ${MAX_JSON_DEPTH} levels deep`);
    }
  });

  it('has the members, limits and forms of the code', () => {
    const { schemas } = openApiDocument.components;
    const fields = Object.keys(TIME_LOG_FIELDS);
    expect(Object.keys(schemas.NewTimeLog!.properties!)).toEqual(fields);
    for (const name of ['TimeLogCorrection', 'TimeLogPatch'])
      expect(Object.keys(schemas[name]!.properties!)).toEqual(['id', ...fields, 'createdAt']);
    for (const [name, members] of [
      ['RecordedTimeLog', ['id', ...fields, 'createdAt']],
      ['TimeLog', ['id', ...LISTED_FIELDS, 'createdAt']],
    ] as const)
      for (const named of [Object.keys(schemas[name]!.properties!), schemas[name]!.required])
        expect(named).toEqual(members);
    const text = JSON.stringify(openApiDocument);
    const every = (key: string) =>
      [...new Set([...text.matchAll(new RegExp(`"${key}":(\\d+)`, 'g'))].map(([, one]) => Number(one)))].sort(
        (a, b) => a - b,
      );
    expect(every('maxItems')).toEqual([MAX_PAGE_LIMIT]);
    expect(every('maximum')).toEqual([MAX_PAGE_LIMIT, Number.MAX_SAFE_INTEGER]);
    expect(every('default')).toEqual([DEFAULT_PAGE.number, DEFAULT_PAGE.limit]);
    expect(every('maxLength')).toEqual([MAX_IDEMPOTENCY_KEY_LENGTH, MAX_DESCRIPTION_LENGTH]);
    expect(text.split(`at most ${MAX_DESCRIPTION_LENGTH} characters (code points)`).length).toBe(6);
    expect(text).toContain(
      `that it can be repeated: 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters`,
    );
    const ids = [...text.matchAll(/"pattern":"(?=[^"]*\[0-9A-Fa-f\])\^([^"]+)\$"/g)].map(([, form]) => form);
    expect(new Set(ids)).toEqual(
      new Set([
        UUID_PATTERN,
        UUIDS_PATTERN,
        EVENT_ID_PATTERN,
        `(${EVENT_ID_PATTERN}|${OPAQUE_CURSOR_PATTERN})`,
      ]),
    );
    expect(text).toContain(`"name":"by","required":false,"in":"query"`);
    expect(text).toContain(`"enum":${JSON.stringify(GROUPINGS)}`);
    for (const name of ['TimeLogStored', 'TimeLogDeleted'])
      expect(schemas[name]!.properties).toHaveProperty('source.enum', [DEFAULT_EVENT_SOURCE]);
  });

  it('shows messages as the code says them', () => {
    const faults = [
      pageLimitFault('0'),
      descriptionFault('x'.repeat(MAX_DESCRIPTION_LENGTH + 1)),
      idempotencyKeyFault(''),
    ];
    const messages = [
      ...faults.map((fault) => fault?.message),
      PROJECT_NOT_ALLOWED,
      FEED_GONE.message,
      TIME_LOG_CHANGED.message,
      VERSION_EXCLUDED.message,
      IDEMPOTENCY_KEY_REUSED.message,
    ];
    expect(messages).not.toContain(undefined);
    const shown = DOCUMENT_TEXT.match(/(?<="message": ").+(?=")/g)!.join('\n');
    expect(messages.filter((message) => !shown.includes(message!))).toEqual([]);
  });

  it('gives every operation a name of its own, and a tag that is described', () => {
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(ids).toEqual(expect.arrayContaining(['listTimeLogs', 'recordTimeLog', 'checkHealth']));
    expect(new Set(ids).size).toBe(ids.length);
    const tags = new Set(operations.flatMap(([, operation]) => operation.tags));
    expect([...tags].toSorted()).toEqual(openApiDocument.tags.map(({ name }) => name).toSorted());
  });

  it('shows projects by UUIDs that every validator takes', () => {
    const shown = [...DOCUMENT_TEXT.matchAll(/"projectId": "([^"]+)"/g)].map(([, id]) => id!);
    expect(shown.length).toBeGreaterThan(3);
    for (const id of shown)
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
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

  it.each(operations)(
    'has the parameters and headers of every route, or of its rate limit: %s',
    (_name, operation) => {
      expect(operation.parameters).toContainEqual({ $ref: '#/components/parameters/X-Request-Id' });
      for (const [status, response] of Object.entries(operation.responses)) {
        const names = Object.keys(resolved(response).headers);
        const isLimited = '429' in operation.responses && /^2|429/.test(status);
        expect(names.filter((name) => /^(RateLimit|X-Request|Retry|WWW)/.test(name)).toSorted()).toEqual(
          [
            ...(isLimited ? ['RateLimit', 'RateLimit-Policy'] : []),
            ...(/429|503/.test(status) ? ['Retry-After'] : []),
            ...(/401|403/.test(status) ? ['WWW-Authenticate'] : []),
            'X-Request-Id',
          ].toSorted(),
        );
      }
    },
  );

  it.each(operations)(
    'has an example of every answer to %s, an error under its own code',
    (_name, operation) => {
      for (const [status, response] of Object.entries(operation.responses)) {
        const { content } = resolved(response);
        expect(content === undefined).toBe(status === '204');
        const values = Object.values(content ?? {}).flatMap(({ examples }) =>
          Object.values(examples).map(({ value }) => value),
        );
        if (content) expect(values.length).toBeGreaterThan(0);
        if (Number(status) < 400) continue;
        for (const value of values) {
          const { error, ...rest } = value as { error: string };
          expect(kinds.find(({ code }) => code === error)?.status).toBe(Number(status));
          expect(rest).toEqual({ success: false, message: expect.stringMatching(/^[\x20-\x7e]+$/) });
        }
      }
    },
  );

  it('describes days so that generators keep them as text', () => {
    expect(DOCUMENT_TEXT).not.toContain('"format": "date"');
    const days =
      DOCUMENT_TEXT.match(/\{[^{}]*"pattern": "\^\\\\d\{4\}-\\\\d\{2\}-\\\\d\{2\}\$"[^{}]*\}/g) ?? [];
    expect(days).toHaveLength(10);
    for (const day of days) expect(day).toContain('as text (`YYYY-MM-DD`)');
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
