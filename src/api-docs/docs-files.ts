import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Encoded, encoded } from './encoded.js';

const require = createRequire(import.meta.url);
const SWAGGER_UI = require.resolve('swagger-ui-dist/package.json');
const { version } = require(SWAGGER_UI) as { version: string };

const read = (name: string) => readFileSync(join(import.meta.dirname, 'page', name));
const OWN_FILES = {
  'page.css': read('page.css'),
  'page.js': read('page.js'),
  'samples.js': read('samples.js'),
};
const own = hash('sha256', Buffer.concat(Object.values(OWN_FILES))).slice(0, 8);

/** The path of the page's files. It changes with them, so browsers may keep them for ever. */
export const FILES_PATH = `docs/${version}-${own}`;

/** The page. Paths of its files are absolute, since it may be opened with a trailing slash. */
export const PAGE = read('page.html').toString().replaceAll('{files}', FILES_PATH);

/** A file of the page that is ours. */
export function ownFile(name: keyof typeof OWN_FILES): Encoded {
  return encoded(() => OWN_FILES[name]);
}

/** A file of Swagger UI. */
export function swaggerUi(name: string): Encoded {
  return encoded(() => readFileSync(join(dirname(SWAGGER_UI), name)));
}

/** Everything comes from the service itself, except the icons in Swagger UI's styles, which are `data:` URLs. */
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
