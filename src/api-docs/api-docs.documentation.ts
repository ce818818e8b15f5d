import { DescribesGuarded } from '../../libs/auth/src/index.js';
import type { TagObject } from '../../libs/open-api/src/index.js';

export const API_DOCS_TAG: TagObject = { name: 'Documentation', description: 'What describes the service.' };

/** `GET /openapi.json`. */
export const DocumentDocumentation = DescribesGuarded({
  operationId: 'getOpenApiDocument',
  tags: [API_DOCS_TAG.name],
  summary: 'This document',
  description: 'Open. `/docs` shows it as a page. A deployment can switch both off.',
  responses: {
    200: {
      description: 'The OpenAPI document.',
      content: {
        'application/json': {
          schema: { type: 'object' },
          examples: { begin: { summary: 'Its begin', value: { openapi: '3.1.1' } } },
        },
      },
    },
  },
});
