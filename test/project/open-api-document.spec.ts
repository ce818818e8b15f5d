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

  it('asks for a token everywhere but where it says that it does not', () => {
    const security = Object.fromEntries(
      operations.map(([name, operation]) => [name, operation.security ?? openApiDocument.security]),
    );
    expect(security).toMatchObject({
      'get /api/v1/time-logs': [{ bearer: ['time-logs:read'] }],
      'get /api/v1/time-logs/{id}': [{ bearer: ['time-logs:read'] }],
      'get /api/v1/time-logs/totals': [{ bearer: ['time-logs:read'] }],
      'post /api/v1/time-logs': [{ bearer: ['time-logs:write'] }],
      'put /api/v1/time-logs/{id}': [{ bearer: ['time-logs:correct'] }],
      'delete /api/v1/time-logs/{id}': [{ bearer: ['time-logs:correct'] }],
      'get /health': [{ bearer: [] }],
      'get /livez': [],
      'get /readyz': [],
      'get /metrics': [{ bearer: ['metrics:read'] }],
      'get /openapi.json': [],
    });
  });

  it.each(operations)('answers 401 and 403 as it asks for a token and for scopes: %s', (_name, operation) => {
    const [asked] = (operation.security ?? openApiDocument.security) as { readonly bearer?: string[] }[];
    const scopes = asked?.bearer;
    expect('401' in operation.responses).toBe(scopes !== undefined);
    expect('403' in operation.responses).toBe(scopes !== undefined && scopes.length > 0);
  });

  it.each([
    ['get /api/v1/time-logs', [200, 400, 401, 403, 408, 417, 429, 431, 500, 503]],
    ['get /api/v1/time-logs/totals', [200, 400, 401, 403, 408, 417, 429, 431, 500, 503]],
    ['post /api/v1/time-logs', [201, 400, 401, 403, 408, 413, 415, 417, 422, 429, 431, 500, 503]],
    ['put /api/v1/time-logs/{id}', [200, 400, 401, 403, 404, 408, 413, 415, 417, 429, 431, 500, 503]],
    ['delete /api/v1/time-logs/{id}', [204, 400, 401, 403, 404, 408, 417, 429, 431, 500, 503]],
    ['get /health', [200, 400, 401, 408, 417, 431, 500, 503]],
    ['get /livez', [200, 400, 408, 417, 431]],
    ['get /readyz', [200, 400, 408, 417, 431, 500, 503]],
    ['get /metrics', [200, 400, 401, 403, 408, 417, 431, 500, 503]],
    ['get /openapi.json', [200, 400, 408, 417, 431]],
  ])('has every status that %s can answer', (name, statuses) => {
    const { responses } = new Map(operations).get(name)!;
    expect(Object.keys(responses).map(Number)).toEqual(statuses);
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
