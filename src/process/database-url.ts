import {
  anyText,
  hasAtAfterAuthority,
  isDecodable,
  oneOf,
  parametersOf,
  type QueryRules,
  pemFile,
  validateQuery,
  wholeNumber,
} from '../../libs/strict-url/src/url-query.js';

const FORM_MESSAGE =
  'must be postgres://USER:PASSWORD@HOST:PORT/NAME, with a port from 1 to 65535, an IPv6 address in brackets, and other special characters percent-encoded';

/** The parameters that the driver or `connectionOptions` obeys. It would ignore all others. */
const QUERY_RULES: QueryRules = {
  host: anyText,
  port: wholeNumber(1, 65_535),
  user: anyText,
  password: anyText,
  application_name: anyText,
  options: anyText,
  // In milliseconds it must fit a timer.
  connect_timeout: wholeNumber(0, 1_000_000),
  sslmode: oneOf('disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'),
  sslrootcert: (value) => (value === 'system' ? undefined : pemFile(value)),
  sslcert: pemFile,
  sslkey: pemFile,
  sslnegotiation: oneOf('postgres', 'direct'),
  ssl: oneOf('true', '1', '0', 'no-verify'),
  uselibpqcompat: oneOf('true', 'false'),
  channel_binding: anyText,
  // The driver always does what these values say.
  client_encoding: oneOf('UTF8', 'utf8', 'UTF-8', 'utf-8'),
  gssencmode: oneOf('disable'),
};

/** Returns an error message for an invalid URL. It never contains a value of the URL. */
export function validateDatabaseUrl(text: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(text)) return 'must be a URL that begins with postgres://';
  if (/\s/.test(text) || !isDecodable(text))
    return 'must be percent-encoded: two hexadecimal digits must follow each % (% itself is %25, a space is %20)';
  if (text.includes('%00'))
    return 'must not contain %00: names and passwords in PostgreSQL cannot contain that character';
  const url = parse(text);
  const [authority = ''] = text.slice(text.indexOf('//') + 2).split(/[/?#]/);
  const hosts = [authority.slice(authority.lastIndexOf('@') + 1), ...parametersOf(text).getAll('host')];
  if (hosts.some((name) => name.includes(',')))
    return 'must name one host: several are not supported, so use an address that leads to the primary';
  if (url?.hash !== '' || url.port === '0' || hasAtAfterAuthority(text)) return FORM_MESSAGE;
  return validateQuery(text, QUERY_RULES) ?? contradictionIn(parametersOf(text));
}

/** Returns an error message for parameters that the driver would refuse or resolve in its own way. */
function contradictionIn(parameters: URLSearchParams): string | undefined {
  const values: Partial<Record<string, string>> = Object.fromEntries(parameters);
  const { ssl, sslmode, sslcert, sslkey, sslrootcert, sslnegotiation, uselibpqcompat } = values;
  // Without TLS or an offer of the server, `prefer` does without it in libpq, too.
  if (!['disable', 'prefer'].includes(values.channel_binding ?? 'disable'))
    return 'must not contain channel_binding, which the driver does not support: remove it, and use sslmode=verify-full';
  if (ssl !== undefined && sslmode !== undefined) return 'must not contain both ssl and sslmode';
  if ((ssl === '0' || ssl === 'no-verify') && (sslrootcert ?? sslcert) !== undefined)
    return 'must not contain files of certificates together with this ssl: use sslmode';
  if ((sslcert === undefined) !== (sslkey === undefined))
    return 'must contain both sslcert and sslkey, or none';
  if (sslnegotiation === 'direct' && (sslmode === 'disable' || ssl === '0'))
    return 'must not contain sslnegotiation=direct without TLS';
  if (sslrootcert === 'system' && (sslmode ?? 'verify-full') !== 'verify-full')
    return 'must have verify-full in sslmode with sslrootcert=system';
  if (uselibpqcompat === 'true' && sslmode === 'verify-ca' && sslrootcert === undefined)
    return 'must contain sslrootcert with sslmode=verify-ca and uselibpqcompat=true';
  return undefined;
}

/**
 * Replaces the TLS modes that the driver treats as verify-full, because it prints an eight-line
 * warning about them at each start. With `uselibpqcompat` they have the meaning of libpq and stay.
 * Replaces `sslrootcert=system`, which the driver would read as the name of a file.
 */
export function useVerifyFull(url: string): string {
  const parameters = parametersOf(url);
  const isSystem = parameters.get('sslrootcert') === 'system';
  const isAlias = /^(allow|prefer|require|verify-ca)$/.test(parameters.get('sslmode') ?? '');
  if (!isSystem && (!isAlias || parameters.get('uselibpqcompat') === 'true')) return url;
  if (isSystem) parameters.delete('sslrootcert');
  parameters.set('sslmode', 'verify-full');
  // A + is encoded as %2B here, so each + is a space, which libpq would not read.
  return `${url.slice(0, url.indexOf('?'))}?${parameters.toString().replaceAll('+', '%20')}`;
}

function parse(text: string): URL | undefined {
  // The URL standard rejects a user without a host. It is valid here: the host may be a parameter.
  const complete = text.replace(/@(?=[/?]|$)/, '@localhost');
  return URL.canParse(complete) ? new URL(complete) : undefined;
}
