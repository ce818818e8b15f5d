import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type SendEncoded, encoded } from './encoded.js';

const require = createRequire(import.meta.url);
const SWAGGER_UI = require.resolve('swagger-ui-dist/package.json');
const { version } = require(SWAGGER_UI) as { version: string };

const read = (name: string) => readFileSync(join(import.meta.dirname, 'page', name));
const OWN_FILES = {
  'page.css': read('page.css'),
  'page.js': read('page.js'),
  'samples.js': read('samples.js'),
};
const digest = hash('sha256', Buffer.concat(Object.values(OWN_FILES))).slice(0, 8);

/** The path of the page's files. It changes with their content, so that they can be cached. */
export const FILES_PATH = `docs/${version}-${digest}`;

const PAGE = read('page.html').toString().replaceAll('{files}', FILES_PATH);

/** Returns the page for a path. References are relative, since a proxy may have removed a prefix. */
export function pageAt(path: string): string {
  return PAGE.replaceAll('{root}', path.endsWith('/') ? '../' : '');
}

/** The senders of our own files and of those of Swagger UI. */
export const SENDERS: ReadonlyMap<string, SendEncoded> = new Map([
  ...Object.entries(OWN_FILES).map(([name, bytes]) => [name, encoded(() => bytes)] as const),
  ...['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png'].map(
    (name) => [name, encoded(() => readFileSync(join(dirname(SWAGGER_UI), name)))] as const,
  ),
]);

/** Allows only resources of the service, and `data:` URLs for the icons of Swagger UI. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
