import { METHODS } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { newToken } from '../../src/access-token/access-token.js';
import { defaultScopes, scopes as allScopes } from '../../src/app.module.js';
import { expectCommon, JSON_TYPE, REFUSED } from './edge.js';
import { DECLARED_TOKEN } from './environment.js';
import {
  dereferenced,
  DOCUMENT_TEXT,
  type OpenApiDocument,
  type Operation,
  type Parameter,
} from './open-api.js';
import { type Answer, create, dataOf, LOG, outcome, refusal, send, type Sending } from './requests.js';
import type { TestApp } from './test-app.js';

/** A method and a path of the OpenAPI document; HEAD is a method of each path that has GET. */
export interface Route {
  readonly method: string;
  /** As in the document, such as `/api/v1/time-logs/{id}`. */
  readonly path: string;
  readonly operation: Operation;
  /** The scope that a token needs; undefined if the route is open. */
  readonly scopes: readonly string[] | undefined;
}

/** A request of a route that succeeds. */
export interface Sample extends Sending {
  readonly path: string;
}

/** Makes what a path parameter names, and resolves with its value. */
const PATH_VALUES: Readonly<Record<string, (app: TestApp) => Promise<string>>> = {
  id: async (app) => (dataOf(await create(app)) as { id: string }).id,
};

const DAY =
  'must be an existing day, as YYYY-MM-DD or YYYY-MM-DDThh:mm[:ss[.fraction]][Z|+hh:mm|-hh:mm] with hh from 00 to 23';
/** A wrong value of each query parameter, and its message. */
const WRONG_VALUES: Readonly<Record<string, readonly [value: string, message: string]>> = {
  projectId: ['x', 'projectId must be a UUID, or at most 100 separated by commas'],
  from: ['2026-02-30', `from ${DAY}`],
  to: ['2026-01-31T24:00', `to ${DAY}`],
  by: [
    'month,project',
    'by must be project, day, week, month or attributes.NAME, or one of project and attributes.NAME with a period, such as project,month',
  ],
  page: ['9007199254740992', 'page must be a whole number from 1 to 2^53-1'],
  limit: ['1001', 'limit must be a whole number from 1 to 1000'],
  format: ['xml', 'format must be csv or ndjson'],
  lastEventId: ['x', 'lastEventId must be the id of an event'],
};

/** Wrong bodies of a log, and their messages. */
const WRONG_LOGS: readonly [json: string, messages: readonly string[]][] = [
  [
    '{"zeta":1,"date":"2026-02-30","description":5,"duration":0,"projectId":"x"}',
    [
      'projectId must be a UUID',
      'duration must be a positive number',
      'description must be a string',
      'date must be an existing day in the form YYYY-MM-DD',
      'unknown field: zeta',
    ],
  ],
  [JSON.stringify(LOG).replace('1.5', '1e400'), ['duration must be a positive number']],
  [JSON.stringify({ ...LOG, createdBy: 'ada' }), ['unknown field: createdBy']],
];

/** Wrong bodies of any route, and their messages; `levels` are the levels of nesting that the route takes. */
const wrongBodies = (levels: number): readonly [body: string | Buffer, message: string][] => [
  ['', 'the request body must be valid JSON'],
  ['[]', 'the request body must be a JSON object'],
  ['{"a":1}{', 'the request body must be valid JSON'],
  [Buffer.from('{"x":"\xc0\xaf"}', 'latin1'), 'the request body must be valid UTF-8'],
  ...[levels, 30_000].map((deep): [string, string] => [
    `{"x":${'['.repeat(deep)}${']'.repeat(deep)}}`,
    `the request body must not be nested deeper than ${levels} levels`,
  ]),
];

const { paths, security: usual } = dereferenced(JSON.parse(DOCUMENT_TEXT) as OpenApiDocument);

/** Every route that the document has. */
export const ROUTES: readonly Route[] = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, operation]) => {
    const [asked] = (operation!.security ?? usual) as readonly { readonly bearer: readonly string[] }[];
    const route = { path, operation: operation!, scopes: asked?.bearer };
    return (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]).map((name) => ({
      method: name,
      ...route,
    }));
  }),
);

/** Those that are in no document and this version of Node knows, one that is newer than its oldest one among them. */
const FOREIGN_METHODS = ['OPTIONS', 'PROPFIND', 'QUERY', 'TRACE', 'M-SEARCH'].filter((name) =>
  METHODS.includes(name),
);

const parametersOf = ({ operation }: Route, place: Parameter['in']) =>
  (operation.parameters as readonly Parameter[]).filter((parameter) => parameter.in === place);

/** The status of success. */
const successOf = ({ operation }: Route): number =>
  Number(Object.keys(operation.responses).find((status) => status.startsWith('2')));

/** The request that the document shows; what its path names is made. */
export async function sampleOf(route: Route, app: TestApp): Promise<Sample> {
  const { method, operation } = route;
  let { path } = route;
  for (const { name } of parametersOf(route, 'path')) {
    const value = PATH_VALUES[name];
    if (!value) throw new Error(`PATH_VALUES in test/support/describe-route.ts lacks {${name}} of ${path}`);
    path = path.replace(`{${name}}`, await value(app));
  }
  if (!operation.requestBody) return { method, path };
  const [type, { examples }] = Object.entries(operation.requestBody.content)[0]!;
  const [example] = Object.values(examples);
  if (!example) throw new Error(`the documentation of ${method} ${path} lacks an example of its body`);
  return { method, path, headers: { 'content-type': type }, body: JSON.stringify(example.value) };
}

/** Requests of a route that are wrong, each with the status that a token with the scope gets. */
function faultsOf(route: Route, sample: Sample): [number, Sample][] {
  const faults: [number, Sample][] = [];
  const { path, headers } = sample;
  const names = parametersOf(route, 'path').map(({ name }) => name);
  const isChange = !/GET|HEAD/.test(route.method);
  for (const name of names) {
    const at = route.path.split('/').indexOf(`{${name}}`);
    faults.push([400, { ...sample, path: path.split('/').with(at, 'x').join('/') }]);
  }
  if (isChange || names.length > 0 || parametersOf(route, 'query').length > 0)
    faults.push([400, { ...sample, path: `${path}?access_token=1` }]);
  if (route.operation.requestBody)
    faults.push(
      [400, { ...sample, body: '{' }],
      [413, { ...sample, body: ' '.repeat(1_100_000) }],
      [415, { ...sample, headers: { 'content-type': 'text/plain' } }],
      [415, { ...sample, headers: { ...headers, 'content-encoding': 'gzip' } }],
    );
  return faults;
}

/** Headers that differ from answer to answer. */
const CHANGING = /^(date|x-request-id|content-length|transfer-encoding|last-event-id)$/;

let asked = 0;

/** Sends a request; holds its answer to the headers that every answer has. */
async function ask(app: TestApp, { path, ...sending }: Sample, token?: string): Promise<Answer> {
  const id = `request-${++asked}`;
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  const headers = { ...sending.headers, authorization, 'x-request-id': id };
  const answer = await send(app, path, { ...sending, headers });
  expectCommon(answer.headers, id);
  if (answer.status >= 400) expect(answer.headers.get('content-type')).toBe(JSON_TYPE);
  const isStreamed = answer.status === 200 && /\/export\b/i.test(path);
  const length = answer.status === 204 || isStreamed ? null : String(Buffer.byteLength(answer.text));
  if (sending.method !== 'HEAD') expect(answer.headers.get('content-length')).toBe(length);
  return answer;
}

/** Tests the rules of every route; the app declares DECLARED_TOKEN. */
export function describeRoute(app: TestApp, route: Route): void {
  const { method, path, scopes } = route;
  const success = successOf(route);
  const sample = () => sampleOf(route, app);
  const tokenWith = async (...names: string[]) =>
    (await app.tokens.create({ name: 'of a route', scopes: names })).token;
  /** Holds that a token, or none, is refused whatever else is wrong, in these words. */
  const expectRefused = async (
    token: string | undefined,
    [status, body]: [number, unknown],
    challenge: string,
  ) => {
    const right = await sample();
    for (const [, wrong] of [[success, right], ...faultsOf(route, right)] as const) {
      const answer = await ask(app, wrong, token);
      expect([answer.headers.get('www-authenticate'), ...outcome(answer)]).toEqual([
        `Bearer realm="time-logs"${challenge}`,
        status,
        method === 'HEAD' ? undefined : body,
      ]);
    }
  };

  describe(`${method} ${path}`, () => {
    if (scopes === undefined) {
      it('is open to everybody', async () => {
        for (const token of [undefined, newToken(), app.token])
          expect((await ask(app, await sample(), token)).status).toBe(success);
      });
    } else {
      it('asks for a valid token before anything else', async () => {
        await expectRefused(undefined, REFUSED.unauthorized, '');
        await expectRefused(newToken(), REFUSED.unauthorized, ', error="invalid_token"');
      });

      it('looks for a token neither in the query nor in the body', async () => {
        const right = await sample();
        const text = `access_token=${app.token}`;
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        for (const sent of [
          { ...right, path: `${right.path}?${text}` },
          ...(/GET|HEAD/.test(method) ? [] : [{ ...right, headers, body: text }]),
        ])
          expect((await ask(app, sent)).status).toBe(401);
      });

      it('lets a token with its scope alone in, and one that is declared if the scope is a default', async () => {
        const isDefault = scopes.every((scope) => defaultScopes.includes(scope));
        for (const [token, status] of [
          [await tokenWith(...scopes), success],
          [DECLARED_TOKEN, isDefault ? success : 403],
        ] as const)
          expect((await ask(app, await sample(), token)).status).toBe(status);
      });

      for (const scope of scopes)
        it(`asks for ${scope} before it looks at the request`, async () => {
          const others = allScopes.filter((name) => name !== scope);
          const forbidden = refusal('FORBIDDEN', `the token lacks the scope ${scope}`);
          const challenge = `, error="insufficient_scope", scope="${scope}"`;
          await expectRefused(await tokenWith(...others), [403, forbidden], challenge);
        });
    }

    it('refuses what is wrong, and takes any case and a trailing slash', async () => {
      const right = await sample();
      for (const [status, wrong] of faultsOf(route, right))
        expect([wrong, (await ask(app, wrong, app.token)).status]).toEqual([wrong, status]);
      const other = { ...right, path: `${right.path.toUpperCase()}/` };
      expect((await ask(app, other, app.token)).status).toBe(success);
    });

    const isInvalid = (message: string) => [400, refusal('VALIDATION_ERROR', message)];
    const inPath = parametersOf(route, 'path').map(({ name }) => [name, `${name}=x`]);
    const inQuery = parametersOf(route, 'query').map(({ name }) => [name, `${name}=x&${name}=x`]);
    if (method === 'POST' || (inPath.length + inQuery.length > 0 && method !== 'HEAD')) {
      it('names an unknown parameter, and each that is repeated', async () => {
        const right = await sample();
        const messageTo = async (query: string) =>
          outcome(await ask(app, { ...right, path: `${right.path}?${query}` }, app.token));
        const known = inQuery.length > 0 ? ` (known: ${inQuery.map(([known]) => known).join(', ')})` : '';
        expect(await messageTo('another=1')).toEqual(isInvalid(`unknown parameter: another${known}`));
        for (const [name, query] of [...inPath, ...inQuery])
          expect(await messageTo(query!)).toEqual(isInvalid(`${name} must not be repeated`));
      });
    }

    if (method === 'GET' && inQuery.length > 0)
      it('names every parameter that is wrong, in the order of the document, or no UTF-8', async () => {
        const { path: target } = await sample();
        const names = inQuery.map(([name]) => name!);
        const outcomeOf = async (query: string) =>
          outcome(await ask(app, { path: `${target}?${query}` }, app.token));
        const query = names.toReversed().map((name) => `${name}=${WRONG_VALUES[name]![0]}`);
        const messages = names.map((name) => WRONG_VALUES[name]![1]);
        const unknown = `unknown parameter: __proto__ (known: ${names.join(', ')})`;
        expect(await outcomeOf(`__proto__=1&${query.join('&')}`)).toEqual(
          isInvalid([...messages, unknown].join('; ')),
        );
        for (const name of names)
          for (const text of ['%', '%zz', '%FF', '%E0%A4', '%ED%A0%80'])
            expect(await outcomeOf(`${name}=${text}`)).toEqual(
              isInvalid(`${name} must be percent-encoded UTF-8`),
            );
      });

    if (route.operation.requestBody)
      it('refuses a wrong body, and names all that is wrong with a log', async () => {
        const right = await sample();
        const isBatch = path.endsWith('/batch');
        const outcomeOf = async (body: string | Buffer) =>
          outcome(await ask(app, { ...right, body }, app.token));
        for (const [body, message] of wrongBodies(isBatch ? 10 : 8))
          expect(await outcomeOf(body)).toEqual(isInvalid(message));
        for (const [log, messages] of WRONG_LOGS) {
          const body = isBatch ? `{"timeLogs":[${JSON.stringify(LOG)},${log}]}` : log;
          const named = messages.map((message) =>
            isBatch ? `timeLogs[1]${message.startsWith('unknown') ? ': ' : '.'}${message}` : message,
          );
          expect(await outcomeOf(body)).toEqual(isInvalid(named.join('; ')));
        }
      });

    if (method === 'HEAD') {
      it('answers as GET, without the body', async () => {
        const right = await sample();
        const headersOf = ({ headers }: Answer) =>
          Object.fromEntries([...headers].filter(([name]) => !CHANGING.test(name)));
        const get = () => ask(app, { ...right, method: 'GET' }, app.token);
        const [before, head, after] = [await get(), await ask(app, right, app.token), await get()];
        expect([head.status, head.text, headersOf(head)]).toEqual([success, '', headersOf(after)]);
        // Metrics change meanwhile.
        if (before.text === after.text)
          expect(head.headers.get('content-length')).toBe(after.headers.get('content-length'));
      });
    }
  });
}

/** Tests the answers of every path to methods that it does not have. */
export function describePath(app: TestApp, path: string): void {
  const own = ROUTES.filter((route) => route.path === path);
  const methods = own.map(({ method }) => method);
  const isOpen = own.every(({ scopes }) => scopes === undefined);

  describe(path, () => {
    it.each(
      ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', ...FOREIGN_METHODS].filter((name) => !methods.includes(name)),
    )('takes no %s', async (method) => {
      const sample = { ...(await sampleOf(own[0]!, app)), method };
      expect(outcome(await ask(app, sample))).toEqual(isOpen ? REFUSED.method : REFUSED.unauthorized);
      for (const target of [sample.path, `${sample.path.toUpperCase()}/`]) {
        const answer = await ask(app, { ...sample, path: target }, app.token);
        expect(outcome(answer)).toEqual(REFUSED.method);
        expect(answer.headers.get('allow')).toBe(methods.toSorted().join(', '));
      }
    });
  });
}
