import { describe, expect, it } from '@jest/globals';
import { ERROR_KINDS } from '../../libs/errors/src/index.js';
import { timeLogs } from '../../src/time-log/composition.js';
import { PAGE_LIMIT, TimeLog } from '../../src/time-log/index.js';
import { DOCUMENT_TEXT, type OpenApiDocument, type Operation, type Response } from '../support/open-api.js';

const openApiDocument = JSON.parse(DOCUMENT_TEXT) as OpenApiDocument;
const operations = Object.entries(openApiDocument.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation!]),
);

/** What a response or a reference to one says. */
function resolved(response: Operation['responses'][string]): Response {
  return '$ref' in response
    ? openApiDocument.components.responses[response.$ref.split('/').at(-1)!]!
    : response;
}

/** What an operation on time logs needs. */
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
  'get /api/v1/time-logs/events': [410],
};

const kinds = [...Object.values(ERROR_KINDS), ...timeLogs.errors];

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
    for (const { code, status } of kinds)
      expect(openApiDocument.info.description).toContain(`| ${status} | \`${code}\` | `);
  });

  it('gives every operation a name of its own, and a tag that is described', () => {
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(ids).toEqual(expect.arrayContaining(['listTimeLogs', 'recordTimeLog', 'checkHealth']));
    expect(new Set(ids).size).toBe(ids.length);
    const tags = new Set(operations.flatMap(([, operation]) => operation.tags));
    expect([...tags].toSorted()).toEqual(openApiDocument.tags.map(({ name }) => name).toSorted());
  });

  it('names the body of errors so that no language takes it for its own class of errors', () => {
    expect(openApiDocument.components.schemas).toHaveProperty('ErrorBody');
    expect(openApiDocument.components.schemas).not.toHaveProperty('Error');
  });

  it('takes any UUID for a project, and shows one that every validator takes', () => {
    const { NewTimeLog: schema } = openApiDocument.components.schemas;
    const { projectId } = schema!.properties as { projectId: { pattern: string; format?: string } };
    expect(projectId.format).toBeUndefined();
    for (const id of ['11111111-1111-1111-1111-111111111111', 'ABCDEF00-0000-0000-0000-00000000000f'])
      expect(id).toMatch(new RegExp(projectId.pattern));
    expect('11111111-1111-1111-1111-11111111111g').not.toMatch(new RegExp(projectId.pattern));
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

  it('has an example whose id and instant belong together', () => {
    const text = JSON.stringify(openApiDocument.paths['/api/v1/time-logs']);
    const [, id, createdAt] = /"id":"([^"]+)".*?"createdAt":"([^"]+)"/.exec(text)!;
    const log = TimeLog.restore({ id: id!, projectId: '', duration: 1, description: '', date: '' });
    expect(log.createdAt.toISOString()).toBe(createdAt);
  });

  it('says what a reader of the interface could get wrong', () => {
    const { get, post } = openApiDocument.paths['/api/v1/time-logs']!;
    expect(get!.description).toContain('from=2026-01-01T00:00Z&to=2026-02-01T00:00Z` includes 1 February');
    expect(get!.description).toContain('`date`, which leads the order, is not in the item');
    expect(get!.description).toContain('A token that may read sees every log');
    expect(post!.description).toContain('The unit of `duration` is the caller’s');
    const text = JSON.stringify(openApiDocument);
    const durations = text.match(/"duration":\{"type":"number"[^}]*\}/g)!;
    expect(durations.length).toBeGreaterThan(1);
    for (const duration of durations) {
      expect(duration).toContain('"format":"double"');
      expect(duration).toContain('beyond 15 digits it may be answered rounded');
    }
    const { ExactSum: sum } = openApiDocument.components.schemas;
    expect(sum).not.toHaveProperty('format');
    expect(sum).toHaveProperty('description', expect.stringContaining('never rounded'));
    expect(openApiDocument.paths['/readyz']!.get!.description).toContain('`503` without it');
    expect(openApiDocument.info.description).toContain('Open are only `/livez`, `/readyz`, `/openapi.json`');
    expect(JSON.stringify(get!.parameters)).toContain(`"maximum":${PAGE_LIMIT}`);
  });
});
