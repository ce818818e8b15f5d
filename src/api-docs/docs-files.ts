import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PAGE_STYLE, START_SCRIPT } from './docs-page.js';
import { type Encoded, encoded } from './encoded.js';

const require = createRequire(import.meta.url);
const SWAGGER_UI = require.resolve('swagger-ui-dist/package.json');
const { version } = require(SWAGGER_UI) as { version: string };
const own = createHash('sha256').update(PAGE_STYLE).update(START_SCRIPT).digest('hex').slice(0, 8);

/** The path of the page's files. It changes with them, so browsers may keep them for ever. */
export const FILES_PATH = `docs/${version}-${own}`;

/** A file of Swagger UI. */
export function swaggerUi(name: string): Encoded {
  return encoded(() => readFileSync(join(dirname(SWAGGER_UI), name)));
}
