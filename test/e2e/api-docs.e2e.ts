import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { FILES_PATH } from '../../src/api-docs/docs-files.js';
import { REFUSED } from '../support/edge.js';
import { DOCUMENT_TEXT, type OpenApiDocument } from '../support/open-api.js';
import { create, outcome, send } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const FILES = `/${FILES_PATH}`;
const API_DOCS_PATHS = [
  '/openapi.json',
  '/docs',
  `${FILES}/favicon-32x32.png`,
  `${FILES}/page.css`,
  `${FILES}/page.js`,
  `${FILES}/samples.js`,
  `${FILES}/swagger-ui-bundle.js`,
  `${FILES}/swagger-ui.css`,
];
const FOR_EVER = 'public, max-age=31536000, immutable';
const NO_TOKEN = { headers: { authorization: undefined } };

const app = useTestApp();

/** The page and its files are for people, and not in the document: they are fetched as a browser does. */
async function fetched(path: string, method = 'GET'): Promise<{ response: Response; bytes: Buffer }> {
  const response = await fetch(app.url + path, { method });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** An answer as it was sent. */
async function undecoded(path: string, accepted?: string) {
  const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
  const [answer] = (await once(get(app.url + path, { headers }), 'response')) as [IncomingMessage];
  const chunks = (await answer.toArray()) as Buffer[];
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(chunks) };
}

describe('GET /openapi.json', () => {
  it('answers the committed document', async () => {
    expect((await send(app, '/openapi.json')).text).toBe(DOCUMENT_TEXT);
  });

  it('names every route of the service but those of the page, and no other', () => {
    const document = JSON.parse(DOCUMENT_TEXT) as OpenApiDocument;
    const documented = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    const { stack } = app.app.getHttpAdapter().getInstance().router as unknown as { stack: RouteLayer[] };
    const routed = stack.flatMap(({ route }) =>
      Object.keys(route?.methods ?? {}).map(
        (method) => `${method} ${route!.path.replace(/:(\w+)/g, '{$1}')}`,
      ),
    );
    const isForPrograms = (route: string) => !/\*| \/docs(\/|$)/.test(route);
    expect(documented.sort()).toEqual(routed.filter(isForPrograms).sort());
  });

  it('has an example of a request that is answered as its example says', async () => {
    const { post } = (JSON.parse(DOCUMENT_TEXT) as OpenApiDocument).paths['/api/v1/time-logs']!;
    const { full } = post!.requestBody!.content['application/json']!.examples;
    const [created] = Object.values(
      (post!.responses[201] as { content: Record<string, { examples: Record<string, { value: object }> }> })
        .content['application/json']!.examples,
    );
    const { status, body } = await create(app, full!.value);
    const { data } = created!.value as { data: object };
    const made = { id: expect.any(String), createdAt: expect.any(String) };
    expect([status, body]).toEqual([201, { success: true, data: { ...data, ...made } }]);
  });
});

describe('GET /docs', () => {
  it.each(['/docs', '/docs/', '/Docs'])('answers a page to anybody (%s)', async (path) => {
    const { response, bytes } = await fetched(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(bytes.toString()).toContain('swagger-ui');
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$/,
    );
    expect(response.headers.get('content-security-policy')).not.toMatch(/unsafe|http|\*/);
  });

  it('needs nothing but files of its own, each of its type and length', async () => {
    const page = (await fetched('/docs')).bytes.toString();
    const needed = [...page.matchAll(/(?:src|href)="([^"/][^"]*)"/g)].map(([, path]) => `/${path!}`);
    expect(['/docs', ...needed].sort()).toEqual(API_DOCS_PATHS.toSorted());
    const types = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', png: 'image/png' };
    for (const path of needed.filter((name) => name.startsWith('/docs/'))) {
      const { response, bytes } = await fetched(path);
      const type = types[path.split('.').at(-1) as keyof typeof types];
      expect([path, response.status, response.headers.get('content-type')]).toEqual([path, 200, type]);
      expect(response.headers.get('cache-control')).toBe(FOR_EVER);
      expect(bytes.length).toBeGreaterThan(50);
    }
  });

  it.each(['/openapi.json', ...API_DOCS_PATHS.filter((path) => /\.(js|css)$/.test(path))])(
    'sends %s compressed to a client that takes gzip, for much fewer bytes',
    async (path) => {
      const plain = await undecoded(path);
      expect(plain.headers['content-encoding']).toBeUndefined();
      const { status, headers, bytes } = await undecoded(path, 'gzip, deflate, br, zstd');
      expect([status, headers['content-encoding'], headers.vary]).toEqual([200, 'gzip', 'Accept-Encoding']);
      expect(Number(headers['content-length'])).toBe(bytes.length);
      expect(bytes.length).toBeLessThan(plain.bytes.length / 2);
      expect(gunzipSync(bytes).equals(plain.bytes)).toBe(true);
      expect((await undecoded(path, 'br, gzip;q=0')).bytes.equals(plain.bytes)).toBe(true);
    },
  );
});

// These are in no document.
describe.each(['/docs', `${FILES}/page.css`])('%s', (path) => {
  it('answers HEAD as GET, without the body', async () => {
    const [head, got] = [await fetched(path, 'HEAD'), await fetched(path)];
    expect([head.response.status, head.bytes.length]).toEqual([200, 0]);
    for (const name of ['content-type', 'content-length', 'cache-control', 'x-content-type-options'])
      expect([name, head.response.headers.get(name)]).toEqual([name, got.response.headers.get(name)]);
    expect(head.response.headers.get('cache-control')).toBe(path.startsWith(FILES) ? FOR_EVER : 'no-store');
    expect(head.response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(head.response.headers.get('x-request-id')).not.toBe(got.response.headers.get('x-request-id'));
  });

  it('allows no other method', async () => {
    const { response, bytes } = await fetched(path, 'POST');
    expect([response.status, JSON.parse(bytes.toString())]).toEqual(REFUSED.method);
    expect(response.headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('any other path below /docs', () => {
  it.each([
    ...['/docs/swagger-ui-bundle.js', '/docs/1.0.0/swagger-ui.css', '/docs/..%2fpackage.json'],
    ...[`${FILES}/swagger-ui-bundle.js.map`, `${FILES}/swagger-ui.css%00`],
  ])('is unknown (%s)', async (path) => {
    expect(outcome(await send(app, path))).toEqual(REFUSED.unknown);
    expect(outcome(await send(app, path, NO_TOKEN))).toEqual(REFUSED.unauthorized);
  });
});

describe('API_DOCS=off', () => {
  const silent = useTestApp({ apiDocs: false });

  it.each(['/', '/openapi.json', '/docs', `${FILES}/page.css`])('leaves %s unknown', async (path) => {
    const stranger = await fetch(silent.url + path);
    expect([stranger.status, await stranger.json()]).toEqual(REFUSED.unauthorized);
    const known = await fetch(silent.url + path, { headers: { authorization: `Bearer ${silent.token}` } });
    expect([known.status, await known.json()]).toEqual(REFUSED.unknown);
  });
});

interface RouteLayer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}
