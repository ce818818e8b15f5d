import { accessSync, constants } from 'node:fs';
import { isDecodable } from '../../libs/http-edge/src/request-target.js';

/** Parameters of libpq that choose a server. The driver would silently ignore them. */
const UNSUPPORTED_PARAMETERS = ['target_session_attrs', 'load_balance_hosts', 'hostaddr', 'service'];
const TLS_FILE_PARAMETERS = ['sslcert', 'sslkey', 'sslrootcert'];
const FORM_MESSAGE =
  'must be postgres://USER:PASSWORD@HOST:PORT/NAME, with a port from 1 to 65535, an IPv6 address in brackets, and other special characters percent-encoded';

/** Returns an error message for an invalid URL. It never contains a part of the URL. */
export function validateDatabaseUrl(text: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(text)) return 'must be a URL that begins with postgres://';
  if (/\s/.test(text) || !isDecodable(text))
    return 'must be percent-encoded: two hexadecimal digits must follow each % (% itself is %25, a space is %20)';
  const url = parse(text);
  const [host] = text.slice(text.indexOf('//') + 2).split(/[/?#]/);
  const hosts = [host!.slice(host!.lastIndexOf('@') + 1), ...(url?.searchParams.getAll('host') ?? [])];
  if (text.includes('%00'))
    return 'must not contain %00: names and passwords in PostgreSQL cannot contain that character';
  if (hosts.slice(1).some((name) => name.trim() === ''))
    return 'must name the server in host, or omit that parameter';
  if (hosts.some((name) => name.includes(',')))
    return 'must name one host: several are not supported, so use an address that leads to the primary';
  if (url?.hash !== '' || !isPort(url.searchParams.get('port') ?? url.port)) return FORM_MESSAGE;
  const parameter = UNSUPPORTED_PARAMETERS.find((name) => url.searchParams.has(name));
  if (parameter) return `must not contain ${parameter}, which is not supported: name the server itself`;
  const file = TLS_FILE_PARAMETERS.find(
    (name) => url.searchParams.has(name) && !isReadable(url.searchParams.get(name)!),
  );
  return file && `must name a readable file in ${file}`;
}

/**
 * Replaces the TLS modes that the driver treats as verify-full, because it prints an eight-line
 * warning about them at each start. With `uselibpqcompat` they have the meaning of libpq and stay.
 */
export function useVerifyFull(url: string): string {
  if (/[?&]uselibpqcompat=true(&|$)/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

function parse(text: string): URL | undefined {
  // The URL standard rejects a user without a host. It is valid here: the host may be a parameter.
  const complete = text.replace(/@(?=[/?]|$)/, '@localhost');
  return URL.canParse(complete) ? new URL(complete) : undefined;
}

/** Returns whether a port is valid. An empty one is: it has a default. */
function isPort(text: string): boolean {
  return text === '' || (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535);
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
