import { DescribesGuarded } from '../../libs/auth/src/index.js';
import type { TagObject } from '../../libs/open-api/src/index.js';

export const METRICS_TAG: TagObject = { name: 'Metrics', description: 'How a process is doing.' };

const EXAMPLE = [
  '# HELP http_requests_total Requests by method, route and status; aborted where the client did not get the whole answer.',
  '# TYPE http_requests_total counter',
  'http_requests_total{method="GET",route="/health",status="200"} 1',
];

/** `GET /metrics`. */
export const MetricsDocumentation = DescribesGuarded({
  operationId: 'readMetrics',
  tags: [METRICS_TAG.name],
  summary: 'The metrics of this process',
  description: 'In the text format of Prometheus. No limit of requests counts it.',
  responses: {
    200: {
      description: 'Every metric with its help and its type.',
      content: {
        'text/plain; version=0.0.4': {
          schema: { type: 'string' },
          examples: { begin: { summary: 'One of them', value: `${EXAMPLE.join('\n')}\n` } },
        },
      },
    },
  },
});
