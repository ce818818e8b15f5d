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
  /** Whether a pooler shares sessions. */
  pgbouncer: oneOf('true', 'false'),
  sslmode: oneOf('disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'),
  sslrootcert: (value) => (value === 'system' ? undefined : pemFile(value)),
  sslcert: pemFile,
  sslkey: pemFile,
  sslnegotiation: oneOf('postgres', 'direct'),
  ssl: oneOf('true', '1', '0', 'no-verify'),
  uselibpqcompat: oneOf('true', 'false'),
  // The driver cannot bind; without TLS or an offer of the server, libpq's `prefer` does without it too.
  channel_binding: oneOf('disable', 'prefer'),
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
  return validateQuery(text, QUERY_RULES);
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
