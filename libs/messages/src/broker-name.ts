import { unescape } from 'node:querystring';

/** The default port of each protocol. */
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'nats:': '4222', 'amqp:': '5672' };

/** Returns the options with which a NATS client connects to a `nats` URL. */
export function natsOptionsOf({ hostname, port, username, password }: URL) {
  return {
    servers: [`${hostname}:${port || DEFAULT_PORTS['nats:']}`],
    ...(username !== '' && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
  };
}

/** Describes the connection that a setting makes, without the password. */
export function describeConnection(name: string, setting: string, url: string | undefined): string {
  return `${name}: ${url === undefined ? `none (${setting})` : brokerName(new URL(url))}`;
}

/**
 * Returns the canonical name of the broker in a `nats`, `amqp` or `tcp` URL: without user and
 * password, and the same for all spellings of the URL.
 */
export function brokerName({ protocol, hostname, port, pathname }: URL): string {
  const address = `${protocol}//${hostname.toLowerCase()}:${port || DEFAULT_PORTS[protocol]}`;
  // As in amqplib: without a name the vhost is `/`.
  const vhost = protocol === 'amqp:' ? unescape(pathname.slice(1)) : '';
  return vhost === '' || vhost === '/' ? address : `${address}/${vhost}`;
}
