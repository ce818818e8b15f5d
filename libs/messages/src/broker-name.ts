import { unescape } from 'node:querystring';

/** Where a broker listens whose URL names no port. */
const PORTS: Readonly<Record<string, string>> = { 'nats:': '4222', 'amqp:': '5672' };

/** What a client of NATS connects with to where a `nats` URL leads. */
export function natsOptionsOf({ hostname, port, username, password }: URL) {
  return {
    servers: [`${hostname}:${port || PORTS['nats:']}`],
    ...(username !== '' && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
  };
}

/** Says whether and where a setting with such a URL connects the service, without a password. */
export function connectionOf(name: string, setting: string, url: string | undefined): string {
  return `${name}: ${url === undefined ? `none (${setting})` : brokerName(new URL(url))}`;
}

/**
 * Names the place that a `nats`, `amqp` or `tcp` URL leads to: without user and password, and in one way however the
 * URL is written.
 */
export function brokerName({ protocol, hostname, port, pathname }: URL): string {
  const place = `${protocol}//${hostname.toLowerCase()}:${port || PORTS[protocol]}`;
  // As the driver of RabbitMQ reads it: without a name the vhost is `/`.
  const vhost = protocol === 'amqp:' ? unescape(pathname.slice(1)) : '';
  return vhost === '' || vhost === '/' ? place : `${place}/${vhost}`;
}
