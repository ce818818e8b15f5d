import { expect } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { dereferenced, DOCUMENT_TEXT } from '../support/open-api.js';

const OUR_DOCUMENT = JSON.parse(DOCUMENT_TEXT) as OpenAPIObject;

/** Expects that a host's document shows our routes below a prefix as our own document does. */
export function expectOurRoutes(document: OpenAPIObject, prefix: string): void {
  expect(document.components?.securitySchemes).toHaveProperty('bearer');
  expect(pathsBelow(prefix, dereferenced(document))).toEqual(
    pathsBelow('/api/v1', dereferenced(OUR_DOCUMENT)),
  );
}

/** The paths of a document that have a prefix, without it. */
function pathsBelow(prefix: string, { paths }: Pick<OpenAPIObject, 'paths'>): OpenAPIObject['paths'] {
  const below = Object.entries(paths).filter(([path]) => path.startsWith(prefix));
  expect(below.length).toBeGreaterThan(0);
  return Object.fromEntries(below.map(([path, item]) => [path.slice(prefix.length), item]));
}
