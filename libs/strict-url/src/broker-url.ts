import { isDecodable, type QueryRules, pemFile, validateQuery, wholeNumber } from './url-query.js';

const NATS: QueryRules = { cafile: pemFile };
/** These parameters are obeyed by amqplib. RabbitMQ accepts no frames below 4096 bytes. */
const AMQP: QueryRules = {
  heartbeat: wholeNumber(0, 65_535),
  channelMax: wholeNumber(0, 65_535),
  frameMax: wholeNumber(4_096, 2_147_483_647),
};

/** One host: drivers would connect to a host named `a,b`. */
const HOST = String.raw`(\[[^\s/?#@\]]+\]|[^\s,%:/?#@[\]]+)`;
const USER = String.raw`([^\s:/?#@]+(:[^\s/?#@]*)?@)?`;
/** Without an @, which would end a password whose / or ? is not encoded. */
const QUERY = String.raw`(\?[^\s#@]*)?$`;
const pattern = (text: string) => new RegExp(`^${text}${QUERY}`, 'i');

/** The URLs of each protocol: their form for the operator, what they match, and their parameters if these are ours. */
const PROTOCOLS = {
  'tcp:': { form: 'tcp://HOST:PORT', matches: pattern(`tcp://${HOST}:\\d+/?`), query: {} },
  'nats:': { form: 'nats://HOST:PORT', matches: pattern(`nats://${USER}${HOST}(:\\d+)?/?`), query: NATS },
  'tls:': { form: 'tls://HOST:PORT', matches: pattern(`tls://${USER}${HOST}(:\\d+)?/?`), query: NATS },
  'amqp:': {
    form: 'amqp://USER:PASSWORD@HOST:PORT',
    matches: pattern(`amqp://${USER}${HOST}(:\\d+)?(/[^\\s/?#@]*)?`),
    query: AMQP,
  },
  'amqps:': {
    form: 'amqps://USER:PASSWORD@HOST:PORT',
    matches: pattern(`amqps://${USER}${HOST}(:\\d+)?(/[^\\s/?#@]*)?`),
    query: { ...AMQP, ...NATS },
  },
  'https:': {
    form: 'https://HOST/PATH',
    matches: pattern(`https://${HOST}(:\\d+)?(/[^\\s?#@]*)?`),
    query: undefined,
  },
  'http:': {
    form: 'http://localhost:PORT/PATH',
    matches: pattern(String.raw`http://(localhost|127\.[\d.]+|\[::1\])(:\d+)?(/[^\s?#@]*)?`),
    query: undefined,
  },
} as const;

export const BROKER_PROTOCOLS = ['nats:', 'tls:', 'amqp:', 'amqps:'] as const;
/** The protocols of brokers and webhooks that events are published to. */
export const EVENT_PROTOCOLS = [...BROKER_PROTOCOLS, 'https:', 'http:'] as const;

/** Returns an error message for an invalid URL of a broker or webhook, without a value of the URL. */
export function validateBrokerUrl(
  text: string,
  protocols: readonly (keyof typeof PROTOCOLS)[],
): string | undefined {
  const known = protocols.map((name) => PROTOCOLS[name]);
  const found = known.find(({ matches }) => matches.test(text));
  if (!found || !isDecodable(text) || !URL.canParse(text))
    return `must be ${known.map(({ form }) => form).join(' or ')}, with other special characters percent-encoded`;
  return found.query && validateQuery(text, found.query);
}
