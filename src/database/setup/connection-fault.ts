import pg from 'pg';
import { codeOf, messageOf } from './message.js';

/** Why there is no connection to a database. */
export interface ConnectionFault {
  /** In one line: what happened, where, and what to do. It never holds a password. */
  readonly message: string;
  /** What happened alone. */
  readonly reason: string;
  /** Whether another try cannot help. */
  readonly isFinal: boolean;
}

/** What PostgreSQL says of a role, database or parameter that it does not take (classes of SQLSTATE). */
const REFUSED = /^(?:22|28|3D|42)/;
const WRONG_PASSWORD = '28P01';
const NO_DATABASE = '3D000';
/** Errors of TLS about the server's certificate (Node, tls). */
const CERTIFICATE = /CERT|SIGNATURE/;

/** Explains an error of the driver to whoever has set the URL, with the name of its setting. */
export function connectionFault(error: unknown, url: string, setting: string): ConnectionFault {
  const { role, host, server, name } = addressOf(url);
  const code = codeOf(error);
  const words = messageOf(error);
  const final = (message: string) => ({ message, reason: words, isFinal: true });
  if (code === NO_DATABASE)
    return final(`there is no database ${name} at ${server}: make it, or name another one in ${setting}`);
  if (code === WRONG_PASSWORD)
    return final(`${server} refuses the role ${role} (${words}): check user and password in ${setting}`);
  if (REFUSED.test(code))
    return final(`${server} refuses the role ${role} for the database ${name} (${words}): check ${setting}`);
  // The driver gives these two no code.
  if (/password must be a (non-empty )?string/.test(words))
    return final(`${server} asks the role ${role} for a password: put one into ${setting}`);
  if (words.includes('does not support SSL'))
    return final(
      `${server} has no TLS, which ${setting} asks for: switch it on there, or leave sslmode out where the network is safe`,
    );
  if (CERTIFICATE.test(code))
    return final(
      `the certificate of ${server} is not accepted (${words}): name who has signed it with sslrootcert, and the host that it is for, in ${setting}`,
    );
  const reason = /^(ENOTFOUND|EAI_AGAIN)$/.test(code) ? `the name ${host} has no address (${code})` : words;
  const message = `the database at ${server} could not be reached: ${reason}; check ${setting} and that PostgreSQL runs there`;
  return { message, reason, isFinal: false };
}

/** Where a URL leads, as the driver reads it. */
export function addressOf(url: string): { role: string; host: string; server: string; name: string } {
  const { user = 'without a name', host, port, database = user } = new pg.Client({ connectionString: url });
  const isSocket = host.startsWith('/');
  const place = host.includes(':') ? `[${host}]` : host;
  return {
    role: user,
    host,
    server: isSocket ? `${host}/.s.PGSQL.${port}` : `${place}:${port}`,
    name: database,
  };
}
