import { type Scope, SCOPES } from '../access-token/index.js';
import { anyErrors, errorRefs, errorResponses } from './open-api.errors.js';
import { HEALTH_TAG, healthPaths } from './open-api.health.js';
import { headerRefs, headers, parameters, requestId } from './open-api.headers.js';
import type { OpenApiDocument, PathItem } from './open-api.js';
import { schemas } from './open-api.schemas.js';
import { TIME_LOGS_TAG, timeLogPaths } from './open-api.time-logs.js';

const DOCUMENTATION_TAG = 'Documentation';

const SCOPE_TEXTS: Readonly<Record<Scope, string>> = {
  'time-logs:read': 'list time logs',
  'time-logs:write': 'record time logs',
  'metrics:read': 'read the metrics of a process',
};

const metricsPaths: Readonly<Record<string, PathItem>> = {
  '/metrics': {
    get: {
      operationId: 'readMetrics',
      tags: [HEALTH_TAG],
      summary: 'The metrics of this process',
      description: 'In the text format of Prometheus. No limit of requests counts it.',
      security: [{ bearer: ['metrics:read'] }],
      parameters: [requestId],
      responses: {
        200: {
          description: 'Every metric with its help and its type.',
          headers: headerRefs(),
          content: {
            'text/plain; version=0.0.4': {
              schema: { type: 'string' },
              examples: {
                begin: {
                  summary: 'One of them',
                  value:
                    '# HELP time_log_write_queue_length Time logs that wait for a commit.\n# TYPE time_log_write_queue_length gauge\ntime_log_write_queue_length 0\n',
                },
              },
            },
          },
        },
        ...anyErrors,
        ...errorRefs('UNAUTHORIZED', 'FORBIDDEN', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'),
      },
    },
  },
};

const documentPaths: Readonly<Record<string, PathItem>> = {
  '/openapi.json': {
    get: {
      operationId: 'getOpenApiDocument',
      tags: [DOCUMENTATION_TAG],
      summary: 'This document',
      description: 'Open. `/docs` shows it as a page. A deployment can switch both off.',
      security: [],
      parameters: [requestId],
      responses: {
        200: {
          description: 'The OpenAPI document.',
          headers: headerRefs(),
          content: {
            'application/json': {
              schema: { type: 'object' },
              examples: { begin: { summary: 'Its begin', value: { openapi: '3.1.1' } } },
            },
          },
        },
        ...anyErrors,
      },
    },
  },
};

/** The OpenAPI document of the service; its limits are those of the code. */
export const openApiDocument: OpenApiDocument = {
  openapi: '3.1.1',
  info: {
    title: 'Time logs',
    version: '1.0.0',
    summary: 'Records and lists time logs.',
    description: [
      'A time log says that somebody worked on a project, on a day, for how long and at what. It is a finished fact: recorded once, never changed.',
      '**Tokens.** Every request needs `Authorization: Bearer TOKEN`, `GET /health` included. Open are only `/livez`, `/readyz`, `/openapi.json` and `/docs`. ' +
        'A log has no owner: every valid token sees every log of the deployment.',
      '**Errors.** Every answer that is not a success is `{"success":false,"error":CODE,"message":TEXT}`, with one code for each status. ' +
        'An unknown path is `404`, another method on a known path `405` with `Allow`, both only for the holder of a token: `401` precedes them. ' +
        'HEAD is answered as GET, without the body.',
      '**Compatibility.** `/api/v1` only grows: new optional fields, parameters and headers. A client must ignore members of an answer that it does not know. ' +
        'Anything else becomes `/api/v2`, with 12 months of overlap and `Deprecation` and `Sunset` headers.',
    ].join('\n\n'),
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/', description: 'The deployment that serves this document' }],
  security: [{ bearer: [] }],
  tags: [
    { name: TIME_LOGS_TAG, description: 'Record work, and list what was recorded.' },
    { name: HEALTH_TAG, description: 'Whether the service is available.' },
    { name: DOCUMENTATION_TAG, description: 'What describes the service.' },
  ],
  paths: { ...timeLogPaths, ...healthPaths, ...metricsPaths, ...documentPaths },
  components: {
    securitySchemes: {
      bearer: {
        type: 'http',
        scheme: 'bearer',
        description: [
          'An access token, or a JWT where the deployment trusts an issuer, in the `Authorization` header (RFC 6750) and nowhere else. Scopes:',
          SCOPES.map((scope) => `- \`${scope}\`: ${SCOPE_TEXTS[scope]}`).join('\n'),
          'A token may expire, and can be revoked at any time.',
        ].join('\n\n'),
      },
    },
    schemas,
    parameters,
    headers,
    responses: errorResponses,
  },
};

/** The document as it is served and committed. */
export function openApiText(): string {
  return `${JSON.stringify(openApiDocument, undefined, 2)}\n`;
}
