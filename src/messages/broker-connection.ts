import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { reasonOf } from '../../libs/errors/src/index.js';
import { hash } from 'node:crypto';
import { unescape } from 'node:querystring';

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

/** Returns the CAs of a URL for amqplib; undefined means those of Node.js. */
export function caOf({ searchParams }: URL): Buffer | undefined {
  const file = searchParams.get('cafile');
  return file === null ? undefined : readFileSync(file);
}

/**
 * Returns the options with which a NATS client verifies the certificate of a URL with `tls:` or a
 * CA. Without them it uses TLS only if the server offers it.
 */
function natsTlsOptionsOf({ protocol, hostname, searchParams }: URL) {
  const caFile = searchParams.get('cafile');
  if (protocol !== 'tls:' && caFile === null) return {};
  const host = hostname.replace(/^\[|\]$/g, '');
  let isVerified = false;
  return {
    tls: {
      // Both are set because names and addresses of other servers arrive unencrypted. The
      // certificate is compared with `servername`, or with `host` if that is an address.
      host,
      servername: isIP(host) === 0 ? host : '',
      ...(caFile !== null && { caFile }),
      checkServerIdentity: (name: string, certificate: PeerCertificate) => {
        const error = checkServerIdentity(name, certificate);
        isVerified = error === undefined;
        return error;
      },
    },
    // The client calls it before it sends anything. Without TLS options of the server it would
    // send passwords and messages unencrypted, also if it has such options itself.
    authenticator: () => {
      if (!isVerified) throw new Error('no TLS on this port');
      isVerified = false;
    },
  };
}

/** Returns the reason why a server was not reached, with the remedy for an error of TLS. */
export function brokerFailureOf(error: unknown, caSetting = 'cafile'): string {
  const reason = reasonOf(error);
  const { code } = (error ?? {}) as { code?: unknown };
  if (/wrong version number|packet length/i.test(reason)) return 'no TLS on this port';
  if (!/^(?!ERR_SSL).*(CERT|SIGNATURE)/.test(String(code))) return reason;
  return `its certificate is not accepted: ${reason}; use the host of the certificate, and name its CA in ${caSetting}`;
}
