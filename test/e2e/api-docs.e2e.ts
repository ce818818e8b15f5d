import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import { REFUSED } from '../support/edge.js';
import { DOCUMENT_TEXT, type OpenApiDocument } from '../support/open-api.js';
import { send } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const { version } = createRequire(import.meta.url)('swagger-ui-dist/package.json') as { version: string };
const FILES = `/docs/${version}`;
const SCRIPT = '/docs/start.js';
const FOR_EVER = 'public, max-age=31536000, immutable';

const app = useTestApp();

/** The page and its files are for people, and not in the document: they are fetched as a browser does. */
async function fetched(path: string, method = 'GET'): Promise<{ response: Response; bytes: Buffer }> {
  const response = await fetch(app.url + path, { method });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
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

  it('needs nothing but files of its own, each of its type', async () => {
    const page = (await fetched('/docs')).bytes.toString();
    const needed = [...page.matchAll(/(?:src|href)="(?!data:)([^"/][^"]*)"/g)].map(([, path]) => `/${path!}`);
    expect(needed).toEqual([`${FILES}/swagger-ui.css`, `${FILES}/swagger-ui-bundle.js`, SCRIPT]);
    for (const path of needed) {
      const { response, bytes } = await fetched(path);
      const type = path.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8';
      expect([path, response.status, response.headers.get('content-type')]).toEqual([path, 200, type]);
      expect(response.headers.get('cache-control')).toBe(path === SCRIPT ? 'no-store' : FOR_EVER);
      expect(bytes.length).toBeGreaterThan(50);
    }
  });
});

describe('API_DOCS=off', () => {
  const silent = useTestApp({ apiDocs: false });

  it.each(['/', '/openapi.json', '/docs', `${FILES}/swagger-ui.css`])('leaves %s unknown', async (path) => {
    const stranger = await fetch(silent.url + path);
    expect([stranger.status, await stranger.json()]).toEqual(REFUSED.unauthorized);
    const known = await fetch(silent.url + path, { headers: { authorization: `Bearer ${silent.token}` } });
    expect([known.status, await known.json()]).toEqual(REFUSED.unknown);
  });
});

interface RouteLayer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}
