import {
  isDecodable,
  oneOf,
  parametersOf,
  type QueryRules,
  pemFile,
  validateQuery,
  wholeNumber,
} from '../../libs/strict-url/src/url-query.js';

/** A role, host and port may be parameters instead. An @ after the authority would end a password whose / is plain. */
const FORM =
  /^postgres(ql)?:\/\/([^\s/?#@]*@)?(\[[^\s/?#@\]]+\]|[^\s,:/?#@[\]]*)(:\d+)?(\/[^\s/?#@]*)?(\?[^\s#@]*)?$/;
const FORM_MESSAGE =
  'must be postgres://USER:PASSWORD@HOST:PORT/NAME, with one host, a port from 1 to 65535, an IPv6 address in brackets, and other special characters percent-encoded';

const oneHost = (name: string) => (name.includes(',') ? 'one host' : undefined);
const anyText = () => undefined;
/** The parameters that the driver or `connectionOptions` obeys. It would ignore all others. */
const QUERY_RULES: QueryRules = {
  host: oneHost,
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
  const isValid = FORM.test(text) && isDecodable(text) && canParse(text);
  // PostgreSQL has no names and passwords with the character zero.
  return isValid && !text.includes('%00') ? validateQuery(text, QUERY_RULES) : FORM_MESSAGE;
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

function canParse(text: string): boolean {
  // The URL standard rejects a user without a host. It is valid here: the host may be a parameter.
  const complete = text.replace(/@(?=[/?]|$)/, '@localhost');
  return URL.canParse(complete) && new URL(complete).port !== '0';
}
