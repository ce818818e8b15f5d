import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { reasonOf } from '../../errors/src/index.js';

/** Returns the CAs of a URL for amqplib; undefined means those of Node.js. */
export function caOf({ searchParams }: URL): Buffer | undefined {
  const file = searchParams.get('cafile');
  return file === null ? undefined : readFileSync(file);
}

/**
 * Returns the options with which a NATS client verifies the certificate of a URL with `tls:` or a
 * CA. Without them it uses TLS only if the server offers it.
 */
export async function natsTlsOptionsOf({ protocol, hostname, searchParams }: URL) {
  const caFile = searchParams.get('cafile');
  if (protocol !== 'tls:' && caFile === null) return {};
  await (encryption ??= requireEncryption());
  const host = hostname.replace(/^\[|\]$/g, '');
  // Both are set because names and addresses of other servers arrive unencrypted. The certificate
  // is compared with `servername`, or with `host` if that is an address.
  const servername = isIP(host) === 0 ? host : '';
  return { tls: { host, servername, ...(caFile !== null && { caFile }) } };
}

let encryption: Promise<void> | undefined;

/**
 * Makes NATS clients that have TLS options drop an unencrypted connection before they send
 * anything. They would use it if the server sends another true value than `true` for `tls_available`.
 */
async function requireEncryption(): Promise<void> {
  const { NodeTransport } = await import('@nats-io/transport-node/lib/node_transport.js');
  const connect = Reflect.get(NodeTransport.prototype, 'connect');
  NodeTransport.prototype.connect = async function (server, options) {
    await connect.call(this, server, options);
    if (!options.tls || this.isEncrypted()) return;
    this.discard();
    throw new Error('no TLS on this port');
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
