import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { reasonOf } from '../../libs/errors/src/index.js';

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
