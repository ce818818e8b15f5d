import { expect } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { withEdge } from '../../libs/http-edge/src/index.js';
import { openApi31 } from '../../libs/open-api/src/index.js';
import { loadConfig } from '../../src/config.js';
import { dereferenced, DOCUMENT_TEXT } from '../support/open-api.js';

const OUR_DOCUMENT = JSON.parse(DOCUMENT_TEXT) as OpenAPIObject;

/** Expects that a host's document shows our routes below a prefix whole, but for what only our own app does. */
export function expectOurRoutes(document: OpenAPIObject, prefix: string): void {
  expect(document.components?.securitySchemes).toHaveProperty('bearer');
  const paths = pathsBelow(prefix, document);
  // OpenAPI 3.0 has no constants; and a reference would lead nowhere.
  expect(JSON.stringify(paths)).not.toMatch(/"\$ref"|"const"/);
  const { limits } = loadConfig({}, false);
  const described = openApi31(withEdge({ ...document, paths }, limits));
  expect(dereferenced(described).paths).toEqual(pathsBelow('/api/v1', dereferenced(OUR_DOCUMENT)));
}

/** The paths of a document that have a prefix, without it. */
function pathsBelow(prefix: string, { paths }: Pick<OpenAPIObject, 'paths'>): OpenAPIObject['paths'] {
  const below = Object.entries(paths).filter(([path]) => path.startsWith(prefix));
  expect(below.length).toBeGreaterThan(0);
  return Object.fromEntries(below.map(([path, item]) => [path.slice(prefix.length), item]));
}
