import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/* Prints src/api-docs/asyncapi.json (AsyncAPI 3.0): messages and events, with the schemas of the OpenAPI document. */

const OPEN_API = join(import.meta.dirname, '..', '..', 'src', 'api-docs', 'openapi.json');
const { info, paths, components } = JSON.parse(readFileSync(OPEN_API, 'utf8'));
const { schemas } = components;
const PATH = '/api/v1/time-logs';
/** The codes of errors that messages have. */
const CODES = [
  'VALIDATION_ERROR',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'REQUEST_TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'IDEMPOTENCY_KEY_REUSED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
];

const ref = (...names) => ({ $ref: `#/${names.join('/')}` });
const schemaRef = (name) => ref('components', 'schemas', name);
const objectOf = (properties, required = Object.keys(properties)) => ({
  type: 'object',
  required,
  properties,
});
const closed = (...parts) => ({ ...objectOf(...parts), additionalProperties: false });

const at = (node) =>
  node.$ref ? components[node.$ref.split('/').at(-2)][node.$ref.split('/').at(-1)] : node;
const parameters = (path, method, place) =>
  paths[path][method].parameters.map(at).filter((parameter) => parameter.in === place);
const queryOf = (path) =>
  closed(
    Object.fromEntries(
      parameters(path, 'get', 'query').map(({ name, description, schema }) => [
        name,
        // Numbers may be sent as text, as in a query.
        schema.type === 'integer'
          ? { description, anyOf: [schema, { type: 'string', pattern: '^\\d+$' }] }
          : { description, ...schema },
      ]),
    ),
    [],
  );
const key = parameters(PATH, 'post', 'header').find(({ name }) => name === 'Idempotency-Key');
const accessToken = { type: 'string', description: 'An access token or JWT, as over HTTP.' };

/** The messages by pattern: the data of the request, and the answer. */
const requests = {
  record: {
    summary: 'Records a time log.',
    scope: 'time-logs:write',
    data: closed(
      {
        accessToken,
        idempotencyKey: { description: key.description, ...key.schema },
        timeLog: schemaRef('NewTimeLog'),
      },
      ['accessToken', 'timeLog'],
    ),
    answer: {
      ...schemas.TimeLogRecorded,
      properties: {
        ...schemas.TimeLogRecorded.properties,
        replayed: {
          const: true,
          description: 'The key was used before: this is the log of the first request.',
        },
      },
    },
  },
  list: {
    summary: 'Lists time logs.',
    scope: 'time-logs:read',
    data: closed({ accessToken, query: queryOf(PATH) }, ['accessToken']),
    answer: schemaRef('TimeLogList'),
  },
  totals: {
    summary: 'Sums time logs.',
    scope: 'time-logs:read',
    data: closed({ accessToken, query: queryOf(`${PATH}/totals`) }, ['accessToken']),
    answer: schemaRef('Totals'),
  },
};
const events = {
  created: schemas.TimeLogStored,
  corrected: schemas.TimeLogStored,
  deleted: schemas.TimeLogDeleted,
};
const { error, ...rest } = schemas.ErrorBody.properties;
const own = {
  MessageError: {
    ...schemas.ErrorBody,
    description: 'The body of an error over HTTP.',
    properties: { ...rest, error: { ...error, enum: CODES } },
  },
  ...Object.fromEntries(
    Object.entries(events).map(([change, schema]) => [
      change,
      {
        ...schema,
        properties: { ...schema.properties, type: { type: 'string', const: `time-log.${change}` } },
      },
    ]),
  ),
};

const id = { type: 'string', description: 'The id of the request, chosen by the caller.' };
const isDisposed = { const: true, description: 'This is the only reply.' };
const channels = {};
const operations = {};
for (const [name, { summary, scope, data, answer }] of Object.entries(requests)) {
  const address = `time-log.${name}.v1`;
  channels[name] = {
    address,
    description:
      'The pattern of a Nest microservice. It is the subject of NATS. Over RabbitMQ and TCP it stands in the message only; over TCP the length of the JSON and `#` come before it.',
    servers: ['tcp', 'nats', 'rabbitmq'].map((server) => ref('servers', server)),
    messages: {
      request: { payload: objectOf({ pattern: { const: address }, id, data }) },
    },
    bindings: { amqp: { is: 'queue', queue: { name: 'time-logs' } } },
  };
  channels[`${name}Reply`] = {
    address: null,
    description: 'NATS: the inbox of the request. RabbitMQ: its `reply_to`. TCP: the same connection.',
    messages: {
      answer: { payload: objectOf({ id, response: answer, isDisposed }) },
      error: { payload: objectOf({ id, err: schemaRef('MessageError'), isDisposed }) },
    },
  };
  const messagesOf = (channel) =>
    Object.keys(channels[channel].messages).map((message) => ref('channels', channel, 'messages', message));
  operations[name] = {
    action: 'receive',
    summary,
    description: `The token needs the scope \`${scope}\`.`,
    channel: ref('channels', name),
    messages: messagesOf(name),
    reply: { channel: ref('channels', `${name}Reply`), messages: messagesOf(`${name}Reply`) },
    bindings: { nats: { queue: 'time-logs' } },
  };
}

const eventId = { ...schemas.TimeLogStored.properties.id, description: 'The id of the event.' };
const messageOf = (change, headers) => ({
  name: `time-log.${change}`,
  contentType: 'application/cloudevents+json',
  headers,
  payload: schemaRef(change),
});
for (const change of Object.keys(events)) {
  channels[change] = {
    address: `time-log.${change}`,
    description:
      'The subject in the JetStream stream `time-logs`, or the routing key of a durable topic exchange.',
    servers: ['nats', 'rabbitmq'].map((server) => ref('servers', server)),
    messages: {
      event: {
        ...messageOf(change, objectOf({ 'Nats-Msg-Id': eventId }, [])),
        description: 'NATS has the id of the event in `Nats-Msg-Id`, RabbitMQ in the property `message_id`.',
      },
    },
    bindings: {
      amqp: { is: 'routingKey', exchange: { name: 'time-logs', type: 'topic', durable: true } },
    },
  };
  operations[change] = {
    action: 'send',
    summary: `Publishes that a log was ${change}.`,
    channel: ref('channels', change),
    bindings: { amqp: { deliveryMode: 2, mandatory: true } },
  };
}
const webhookHeaders = objectOf({
  'webhook-id': eventId,
  'webhook-timestamp': {
    type: 'string',
    pattern: '^\\d+$',
    description: 'The time of the attempt in seconds.',
  },
  'webhook-signature': {
    type: 'string',
    pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$',
    description: 'HMAC-SHA256 of `id.timestamp.body`, once for each secret.',
  },
});
channels.webhook = {
  address: null,
  description: 'The URL that the operator has set.',
  servers: [ref('servers', 'webhook')],
  messages: Object.fromEntries(
    Object.keys(events).map((change) => [change, messageOf(change, webhookHeaders)]),
  ),
};
operations.webhook = {
  action: 'send',
  summary: 'Posts each event to a webhook (Standard Webhooks 1.0).',
  description:
    'A status of 2xx acknowledges; `410` ends the deliveries. Anything else, a redirect included, is tried again.',
  channel: ref('channels', 'webhook'),
  bindings: { http: { method: 'POST' } },
};

const server = (protocol, description) => ({
  host: '{host}',
  protocol,
  description,
  variables: { host: { description: 'The host and port of the deployment.' } },
});
const document = {
  asyncapi: '3.0.0',
  info: {
    title: 'Time logs: messages and events',
    version: info.version,
    description:
      'Messages ask for what HTTP offers too: record, list and sum time logs. Events report each change of a log, at least once, those of a project first in the order of the feed; their `id` shows repeats.',
    license: { name: info.license.name },
  },
  defaultContentType: 'application/json',
  servers: {
    tcp: server('tcp', '`MESSAGES_URL=tcp://…`'),
    nats: server('nats', '`MESSAGES_URL` and `EVENTS_URL`: `nats://…`, with TLS `tls://…`'),
    rabbitmq: server('amqp', '`MESSAGES_URL` and `EVENTS_URL`: `amqp://…`, with TLS `amqps://…`'),
    webhook: server('https', '`EVENTS_URL=https://…`, signed with `EVENTS_SECRET`'),
  },
  channels,
  operations,
  components: {},
};
const used = {};
const collect = (node) => {
  for (const [, name] of JSON.stringify(node).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (name in used) continue;
    used[name] = own[name] ?? schemas[name];
    collect(used[name]);
  }
};
collect(document);
document.components.schemas = used;
console.log(JSON.stringify(document, undefined, 2));
