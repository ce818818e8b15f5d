import { accessSync, constants } from 'node:fs';
import { isDecodable } from '../../libs/http-edge/src/request-target.js';

/** Parameters of libpq that choose a server. The driver would silently ignore them. */
const UNSUPPORTED = ['target_session_attrs', 'load_balance_hosts', 'hostaddr', 'service'];
const TLS_FILES = ['sslcert', 'sslkey', 'sslrootcert'];
const FORM =
  'must be postgres://USER:PASSWORD@HOST:PORT/NAME, with a port from 1 to 65535, an IPv6 address in brackets, and other special characters percent-encoded';

/** What is wrong with the URL of a database, or undefined. The text never holds a part of the URL. */
export function faultOfDatabaseUrl(text: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(text)) return 'must be a URL that begins with postgres://';
  if (/\s/.test(text) || !isDecodable(text))
    return 'must be percent-encoded: each % with two hexadecimal digits behind it (% itself is %25, a space is %20)';
  const url = parse(text);
  const [host] = text.slice(text.indexOf('//') + 2).split(/[/?#]/);
  const hosts = [host!.slice(host!.lastIndexOf('@') + 1), ...(url?.searchParams.getAll('host') ?? [])];
  if (text.includes('%00')) return 'must not have %00: no name or password of PostgreSQL has that character';
  if (hosts.slice(1).some((name) => name.trim() === ''))
    return 'must name the server in host, or leave that parameter out';
  if (hosts.some((name) => name.includes(',')))
    return 'must name one host: several are not supported, so name an address that leads to the primary';
  if (url?.hash !== '' || !isPort(url.searchParams.get('port') ?? url.port)) return FORM;
  const parameter = UNSUPPORTED.find((name) => url.searchParams.has(name));
  if (parameter) return `must not have ${parameter}, which is not supported: name the server itself`;
  const file = TLS_FILES.find(
    (name) => url.searchParams.has(name) && !isReadable(url.searchParams.get(name)!),
  );
  return file && `must name a file that can be read in ${file}`;
}

/**
 * The driver takes these modes for verify-full already, and says so in eight lines at each start. With
 * `uselibpqcompat` they have libpq's own meaning.
 */
export function withFullVerification(url: string): string {
  if (/[?&]uselibpqcompat=true(&|$)/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

function parse(text: string): URL | undefined {
  // The URL standard refuses a user without a host. It is good here: the host may be a parameter.
  const complete = text.replace(/@(?=[/?]|$)/, '@localhost');
  return URL.canParse(complete) ? new URL(complete) : undefined;
}

/** Also true without a port: it has a default. */
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
