import { DescribesGuarded } from '../../libs/auth/src/index.js';
import { FAULT_ANSWERS } from '../../libs/errors/src/index.js';
import type { ResponseObject, TagObject } from '../../libs/open-api/src/index.js';

export const HEALTH_TAG: TagObject = { name: 'Health', description: 'Whether the service is available.' };

const tags = [HEALTH_TAG.name];
const ok: ResponseObject = {
  description: 'It is.',
  content: {
    'text/plain': { schema: { type: 'string', enum: ['OK'] }, examples: { ok: { value: 'OK' } } },
  },
};

/** `GET /health`. */
export const HealthDocumentation = DescribesGuarded({
  operationId: 'checkHealth',
  tags,
  summary: 'Is the service available?',
  description: '`OK` while the service can use its database. Takes any valid token, whatever its scopes.',
  responses: { 200: ok },
});

/** `GET /livez`. */
export const LivenessDocumentation = DescribesGuarded({
  operationId: 'checkLiveness',
  tags,
  summary: 'Does the process run?',
  description: 'Open, for orchestrators: never looks at the database, whose outage no restart would mend.',
  responses: { 200: ok },
});

/** `GET /readyz`. */
export const ReadinessDocumentation = DescribesGuarded({
  operationId: 'checkReadiness',
  tags,
  summary: 'May requests be sent here?',
  description:
    'Open, for load balancers: `OK` while the service can use its database; `503` without it, and from the moment that the shutdown begins.',
  responses: { 200: ok, ...FAULT_ANSWERS },
});
