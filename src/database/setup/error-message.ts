import pg from 'pg';
import { DomainError } from '../../../libs/errors/src/index.js';
import { POOLER_ADVICE } from '../pooler.js';

/** Advice by SQLSTATE: a write on a standby or read-only server; a full disk. */
const ADVICE: Readonly<Record<string, string>> = {
  '25006': 'use a server that is not a standby, and a role without default_transaction_read_only',
  '53100': 'free space on the disk of the database, and try again',
};
/** SQLSTATE. */
export const INSUFFICIENT_PRIVILEGE = '42501';

/** Returns the code of an error: a SQLSTATE, or a code of Node.js; empty if it has none. */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Returns the message of an error for the operator. It includes the message of PostgreSQL. */
export function messageOf(error: unknown): string {
  // An error about several addresses has no message of its own.
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  if (!(error instanceof Error)) return String(error);
  if (error instanceof DomainError && error.cause !== undefined) return messageOf(error.cause);
  const advice = ADVICE[codeOf(error)];
  return advice === undefined ? error.message : `${error.message}: ${advice}`;
}

/** A failed connection to a database. */
export interface ConnectionFailure {
  /** One line with the error, the server and the remedy. It never contains a password. */
  readonly message: string;
  /** The error alone. */
  readonly reason: string;
  /** Whether another attempt would fail too. */
  readonly isFinal: boolean;
}

/** The classes of SQLSTATE for a rejected role, database or parameter. */
const REJECTED = /^(?:22|28|3D|42)/;
const WRONG_PASSWORD = '28P01';
const NO_DATABASE = '3D000';
/** PgBouncer refuses settings of the session with it. */
const PROTOCOL_VIOLATION = '08P01';
const EXPIRED_CERTIFICATE = 'CERT_HAS_EXPIRED';
/** Matches the codes of Node.js for an invalid certificate of the server. */
const CERTIFICATE_ERROR = /CERT|SIGNATURE/;

/**
 * Explains an error of the driver to the operator. `setting` is the name of the setting of the URL.
 */
export function explainConnectionError(error: unknown, url: string, setting: string): ConnectionFailure {
  const { role, host, server, name } = addressOf(url);
  const code = codeOf(error);
  const text = messageOf(error);
  const final = (message: string) => ({ message, reason: text, isFinal: true });
  if (code === NO_DATABASE)
    return final(`there is no database ${name} at ${server}: create it, or name another one in ${setting}`);
  if (code === WRONG_PASSWORD)
    return final(`${server} refuses the role ${role} (${text}): check user and password in ${setting}`);
  if (REJECTED.test(code))
    return final(`${server} refuses the role ${role} for the database ${name} (${text}): check ${setting}`);
  if (code === PROTOCOL_VIOLATION)
    return final(`${server} refuses the connection (${text}): ${POOLER_ADVICE} in ${setting}`);
  // These two errors of the driver have no code.
  if (/password must be a (non-empty )?string/.test(text))
    return final(`${server} requires a password for the role ${role}: add one to ${setting}`);
  if (text.includes('does not support SSL'))
    return final(
      `${server} does not support TLS, which ${setting} requires: enable it there, or remove sslmode if the network is safe`,
    );
  if (code === EXPIRED_CERTIFICATE)
    return final(
      `the certificate of ${server} is not accepted (${text}): renew it on the server that ${setting} names`,
    );
  if (CERTIFICATE_ERROR.test(code))
    return final(
      `the certificate of ${server} is not accepted (${text}): set ${setting} to the host of the certificate, with sslrootcert for its issuer`,
    );
  const reason = /^(ENOTFOUND|EAI_AGAIN)$/.test(code) ? `the name ${host} has no address (${code})` : text;
  const message = `the database at ${server} could not be reached: ${reason}; check ${setting} and that PostgreSQL runs there`;
  return { message, reason, isFinal: false };
}

/** Returns the role, server and database of a URL, as the driver parses it. */
export function addressOf(url: string): { role: string; host: string; server: string; name: string } {
  const { user = 'without a name', host, port, database = user } = new pg.Client({ connectionString: url });
  const isSocket = host.startsWith('/');
  const hostname = host.includes(':') ? `[${host}]` : host;
  return {
    role: user,
    host,
    server: isSocket ? `${host}/.s.PGSQL.${port}` : `${hostname}:${port}`,
    name: database,
  };
}
