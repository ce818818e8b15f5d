import { hash } from 'node:crypto';
import { unescape } from 'node:querystring';
import { natsTlsOptionsOf } from './broker-tls.js';

/** The default port of each protocol. */
const DEFAULT_PORTS: Readonly<Record<string, string>> = {
  'nats:': '4222',
  'amqp:': '5672',
  'amqps:': '5671',
  'http:': '80',
  'https:': '443',
};

/** Returns the options with which a NATS client connects to a `nats` or `tls` URL. */
export function natsOptionsOf(url: URL) {
  const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  return {
    servers: [`${url.hostname}:${url.port || DEFAULT_PORTS['nats:']}`],
    // As in other clients of NATS: without a password it is a token.
    ...(user !== '' && (pass === '' ? { token: user } : { user, pass })),
    ...natsTlsOptionsOf(url),
  };
}

/** Describes the connection that a setting makes, without the password. */
export function describeConnection(name: string, setting: string, url: string | undefined): string {
  return `${name}: ${url === undefined ? `none (${setting})` : brokerName(new URL(url))}`;
}

/**
 * Returns the canonical name of the broker in a URL: without user and password, and the same for
 * all spellings of the URL. A NATS server has one port, so its name is the same with TLS. The path
 * and query of a webhook may be a secret, so they are a digest.
 */
export function brokerName({ protocol: scheme, hostname, port, pathname, search }: URL): string {
  const protocol = scheme === 'tls:' ? 'nats:' : scheme;
  const address = `${protocol}//${hostname.toLowerCase()}:${port || DEFAULT_PORTS[protocol]}`;
  if (protocol.startsWith('http')) return `${address}/#${hash('sha256', pathname + search).slice(0, 12)}`;
  // As in amqplib: without a name the vhost is `/`.
  const vhost = protocol.startsWith('amqp') ? unescape(pathname.slice(1)) : '';
  return vhost === '' || vhost === '/' ? address : `${address}/${vhost}`;
}
