import { expect } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { withEdge } from '../../libs/http-edge/src/index.js';
import { openApi31, type SchemaObject } from '../../libs/open-api/src/index.js';
import { loadConfig } from '../../src/process/config.js';
import { dereferenced, DOCUMENT_TEXT } from '../support/open-api.js';

const OUR_DOCUMENT = JSON.parse(DOCUMENT_TEXT) as OpenAPIObject;

/** Expects that a host's document shows our routes below a prefix whole, but for what only our own app does. */
export function expectOurRoutes(document: OpenAPIObject, prefix: string): void {
  expect(document.components?.securitySchemes).toHaveProperty('bearer');
  const paths = pathsBelow(prefix, document);
  // OpenAPI 3.0 has no constants.
  expect(JSON.stringify(paths)).not.toContain('"const"');
  const { limits } = loadConfig({}, false);
  const described = openApi31(withEdge({ ...document, paths }, limits));
  const ours = dereferenced(withoutCodes(OUR_DOCUMENT));
  const routes = JSON.stringify(pathsBelow('/api/v1', ours));
  // An answer that all modules share has examples of each: a host has no other module of ours.
  // And the host has no limit of requests.
  const asHosted = JSON.parse(routes, (name, value: { summary?: string } | null) =>
    value?.summary === 'the token lacks the scope metrics:read' || /^429$|^RateLimit/.test(name)
      ? undefined
      : value,
  ) as object;
  expect(dereferenced(described).paths).toEqual(asHosted);
}

/** Our document without the list of all codes, which only the whole service knows. */
function withoutCodes(document: OpenAPIObject): OpenAPIObject {
  const { schemas } = document.components as { schemas: Record<string, SchemaObject> };
  const { properties, ...body } = schemas.ErrorBody!;
  const { enum: codes, ...error } = properties!.error as SchemaObject;
  expect(codes).toContain('IDEMPOTENCY_KEY_REUSED');
  const ErrorBody = { ...body, properties: { ...properties, error } };
  return { ...document, components: { ...document.components, schemas: { ...schemas, ErrorBody } } };
}

/** The paths of a document that have a prefix, without it. */
function pathsBelow(prefix: string, { paths }: Pick<OpenAPIObject, 'paths'>): OpenAPIObject['paths'] {
  const below = Object.entries(paths).filter(([path]) => path.startsWith(prefix));
  expect(below.length).toBeGreaterThan(0);
  return Object.fromEntries(below.map(([path, item]) => [path.slice(prefix.length), item]));
}
