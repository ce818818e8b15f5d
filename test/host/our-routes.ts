import { expect } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { dereferenced, DOCUMENT_TEXT } from '../support/open-api.js';

const OUR_DOCUMENT = JSON.parse(DOCUMENT_TEXT) as OpenAPIObject;
/** Answers, headers and parameters of our HTTP edge and of a rate limit, which the host does not have. */
const OF_OUR_APP = /^(408|417|429|431|X-Request-Id|RateLimit(-Policy)?)$/;

/** Expects that a host's document shows our routes below a prefix whole, but for what only our own app does. */
export function expectOurRoutes(document: OpenAPIObject, prefix: string): void {
  expect(document.components?.securitySchemes).toHaveProperty('bearer');
  const paths = pathsBelow(prefix, document);
  // OpenAPI 3.0 has no constants.
  expect(JSON.stringify(paths)).not.toMatch(/"const"|"X-Request-Id"|"RateLimit/);
  const ours = comparable(pathsBelow('/api/v1', dereferenced(OUR_DOCUMENT)));
  expect(comparable(pathsBelow(prefix, dereferenced(document)))).toEqual(ours);
}

/** Paths in terms of OpenAPI 3.1, without what only our own app has: that, other scopes, and the list of all codes. */
function comparable(paths: OpenAPIObject['paths']): unknown {
  return JSON.parse(JSON.stringify(paths), (key, value: Part | null) => {
    if (typeof value !== 'object' || value === null) return value;
    if (OF_OUR_APP.test(key) || value.summary?.startsWith('the token lacks the scope ')) return undefined;
    if (Array.isArray(value)) return (value as Part[]).filter(({ name = '' }) => !OF_OUR_APP.test(name));
    const { enum: values, example, 'x-examples': examples, ...rest } = value;
    return {
      ...rest,
      ...(values && !values.includes('RATE_LIMITED') && { enum: values }),
      ...(example !== undefined && { examples: [example] }),
      ...(examples && { examples }),
    };
  });
}

interface Part {
  readonly name?: string;
  readonly summary?: string;
  readonly enum?: readonly unknown[];
  readonly example?: unknown;
  readonly 'x-examples'?: readonly unknown[];
}

/** The paths of a document that have a prefix, without it. */
function pathsBelow(prefix: string, { paths }: Pick<OpenAPIObject, 'paths'>): OpenAPIObject['paths'] {
  const below = Object.entries(paths).filter(([path]) => path.startsWith(prefix));
  expect(below.length).toBeGreaterThan(0);
  return Object.fromEntries(below.map(([path, item]) => [path.slice(prefix.length), item]));
}
