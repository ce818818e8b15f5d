import {
  hasAtAfterAuthority,
  isDecodable,
  type QueryRules,
  pemFile,
  validateQuery,
  wholeNumber,
} from './url-query.js';
import { validateWebhookUrl } from './webhook.js';

type Protocol = keyof typeof FORMS;

const FORMS = {
  'tcp:': 'tcp://HOST:PORT',
  'nats:': 'nats://HOST:PORT',
  'tls:': 'tls://HOST:PORT',
  'amqp:': 'amqp://USER:PASSWORD@HOST:PORT',
  'amqps:': 'amqps://USER:PASSWORD@HOST:PORT',
  'https:': 'https://HOST/PATH',
  'http:': 'http://localhost:PORT/PATH',
};

const NATS: QueryRules = { cafile: pemFile };
/** These parameters are obeyed by amqplib. RabbitMQ accepts no frames below 4096 bytes. */
const AMQP: QueryRules = {
  heartbeat: wholeNumber(0, 65_535),
  channelMax: wholeNumber(0, 65_535),
  frameMax: wholeNumber(4_096, 2_147_483_647),
};
const QUERY_RULES: Readonly<Record<Exclude<Protocol, 'https:' | 'http:'>, QueryRules>> = {
  'tcp:': {},
  'nats:': NATS,
  'tls:': NATS,
  'amqp:': AMQP,
  'amqps:': { ...AMQP, ...NATS },
};

export const BROKER_PROTOCOLS = ['nats:', 'tls:', 'amqp:', 'amqps:'] as const;
/** The protocols of brokers and webhooks that events are published to. */
export const EVENT_PROTOCOLS = [...BROKER_PROTOCOLS, 'https:', 'http:'] as const;

/** Returns an error message for an invalid URL of a broker or webhook, without a value of the URL. */
export function validateBrokerUrl(text: string, protocols: readonly Protocol[]): string | undefined {
  const url = /\s/.test(text) || !isDecodable(text) || !URL.canParse(text) ? undefined : new URL(text);
  const protocol = protocols.find((name) => name === url?.protocol);
  // Drivers would connect to a host named `a,b`: several hosts are not supported.
  const isHost = /^(\[.+\]|[^,%]+)$/.test(url?.hostname ?? '');
  if (
    !url ||
    !protocol ||
    !isHost ||
    url.hash !== '' ||
    hasAtAfterAuthority(text) ||
    (protocol === 'tcp:' && !url.port)
  )
    return `must be ${protocols.map((name) => FORMS[name]).join(' or ')}, with other special characters percent-encoded`;
  if (protocol === 'https:' || protocol === 'http:') return validateWebhookUrl(url);
  if (url.username === '' && url.password !== '') return 'must have a user before the password';
  if (protocol === 'tcp:' && url.username !== '')
    return 'must not contain a user: senders of messages have tokens';
  if (!protocol.startsWith('amqp') && !['', '/'].includes(url.pathname)) return 'must not contain a path';
  return validateQuery(text, QUERY_RULES[protocol]);
}
