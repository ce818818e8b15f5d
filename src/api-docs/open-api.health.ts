import { anyErrors, errorRefs, tokenErrors } from './open-api.errors.js';
import { headerRefs, requestId } from './open-api.headers.js';
import type { Operation, PathItem, Response } from './open-api.js';

export const HEALTH_TAG = 'Health';

const ok: Response = {
  description: 'It is.',
  headers: headerRefs(),
  content: {
    'text/plain': { schema: { type: 'string', const: 'OK' }, examples: { ok: { value: 'OK' } } },
  },
};

const common = { tags: [HEALTH_TAG], parameters: [requestId] } satisfies Partial<Operation>;

/** The health checks. */
export const healthPaths: Readonly<Record<string, PathItem>> = {
  '/health': {
    get: {
      ...common,
      operationId: 'checkHealth',
      summary: 'Is the service available?',
      description: '`OK` while the service can use its database. Takes any valid token, whatever its scopes.',
      security: [{ bearer: [] }],
      responses: { 200: ok, ...anyErrors, ...tokenErrors },
    },
  },
  '/livez': {
    get: {
      ...common,
      operationId: 'checkLiveness',
      summary: 'Does the process run?',
      description:
        'Open, for orchestrators: never looks at the database, whose outage no restart would mend.',
      security: [],
      responses: { 200: ok, ...anyErrors },
    },
  },
  '/readyz': {
    get: {
      ...common,
      operationId: 'checkReadiness',
      summary: 'May requests be sent here?',
      description:
        'Open, for load balancers: as `/health`, and `503` from the moment that the shutdown begins.',
      security: [],
      responses: { 200: ok, ...anyErrors, ...errorRefs('INTERNAL_ERROR', 'SERVICE_UNAVAILABLE') },
    },
  },
};
