import { readFileSync } from 'node:fs';
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
export function natsTlsOptionsOf({ protocol, hostname, searchParams }: URL) {
  const caFile = searchParams.get('cafile');
  if (protocol !== 'tls:' && caFile === null) return {};
  // Without the host, the client would compare the certificate of an address with `localhost`.
  return { tls: { host: hostname.replace(/^\[|\]$/g, ''), ...(caFile !== null && { caFile }) } };
}

/** Returns the reason why a broker was not reached, with the remedy for an error of TLS. */
export function brokerFailureOf(error: unknown): string {
  const reason = reasonOf(error);
  const { code } = (error ?? {}) as { code?: unknown };
  if (/wrong version number|packet length/i.test(reason)) return 'no TLS on this port';
  if (!/^(?!ERR_SSL).*(CERT|SIGNATURE)/.test(String(code))) return reason;
  return `its certificate is not accepted: ${reason}; use the host of the certificate, and name its CA in cafile`;
}
