import { expect, it } from '@jest/globals';
import { explainConnectionError, messageOf } from './error-message.js';
import { connectionOptions, connectTimeoutOf, plainOptions } from './data-source.js';
import type { DataSource } from 'typeorm';
import { requireSuitableDatabase } from './requirements.js';

const URL_WITH_PASSWORD = 'postgres://ada:s%20cret@db.example:5433/logs?sslmode=verify-full';
const errorWith = (code: string | undefined, message: string) => Object.assign(new Error(message), { code });

it.each([
  ['3D000', 'database "logs" does not exist', /^there is no database logs at SERVER: create it, or /],
  ['28P01', 'password authentication failed', /^SERVER refuses the role ada [(]password .*: check user/],
  ['28000', 'no pg_hba.conf entry', /^SERVER refuses the role ada for the database logs [(]no pg_hba/],
  ['42501', 'permission denied for database', /^SERVER refuses the role ada for the database logs/],
  ['22023', 'invalid value for parameter', /^SERVER refuses the role ada for the database logs/],
  [undefined, 'SASL: client password must be a string', /^SERVER requires a password for the role ada: /],
  [
    undefined,
    'The server does not support SSL connections',
    /^SERVER does not support TLS, which .* requires: /,
  ],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', /^the certificate of SERVER is not accep/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'Host: db.', /^the certificate of SERVER is not accepted [(]Host/],
  ['CERT_HAS_EXPIRED', 'certificate has expired', /^the certificate of SERVER is .*expired[)]: renew it on/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable', /^the certificate of SERVER is not accepted [(]una/],
])('a failed connection is final for %s, %s', (code, text, message) => {
  const failure = explainConnectionError(errorWith(code, text), URL_WITH_PASSWORD, 'MIGRATION_DATABASE_URL');
  expect(failure.isFinal).toBe(true);
  expect(failure.message.replace('db.example:5433', 'SERVER')).toMatch(message);
  expect(failure.message).toMatch(/^[^\n]*\bMIGRATION_DATABASE_URL\b[^\n]*$/);
  expect(failure.message).not.toMatch(/s( |%20)cret/);
});

it.each([
  ['ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.1:5433', 'connect ECONNREFUSED 10.0.0.1:5433'],
  ['ENOTFOUND', 'getaddrinfo ENOTFOUND db.example', 'the name db.example has no address (ENOTFOUND)'],
  ['EAI_AGAIN', 'getaddrinfo EAI_AGAIN db.example', 'the name db.example has no address (EAI_AGAIN)'],
  ['57P03', 'the database system is starting up', 'the database system is starting up'],
  ['53300', 'sorry, too many clients already', 'sorry, too many clients already'],
  [undefined, 'timeout expired', 'timeout expired'],
])('a failed connection is temporary for %s, %s', (code, text, reason) => {
  expect(explainConnectionError(errorWith(code, text), URL_WITH_PASSWORD, 'DATABASE_URL')).toEqual({
    isFinal: false,
    reason,
    message: `the database at db.example:5433 could not be reached: ${reason}; check DATABASE_URL and that PostgreSQL runs there`,
  });
});

it.each([
  ['postgres://ada@[::1]:5433/logs', '[::1]:5433'],
  ['postgres://ada@db.example/logs', 'db.example:5432'],
  ['postgres://ada@%2Frun%2Fpostgresql/logs', '/run/postgresql/.s.PGSQL.5432'],
  ['postgres://ada@/logs?host=/run/postgresql&port=5433', '/run/postgresql/.s.PGSQL.5433'],
  ['postgres:///logs', 'localhost:5432'],
])('a failed connection names the server of %s: %s', (url, server) => {
  const { message } = explainConnectionError(errorWith(undefined, 'gone'), url, 'DATABASE_URL');
  expect(message).toContain(`the database at ${server} could not be reached: gone;`);
});

it.each([
  [
    '25006',
    'cannot execute INSERT',
    'cannot execute INSERT: use a server that is not a standby, and a role without',
  ],
  ['53100', 'No space left on device', 'No space left on device: free space on the disk of the database'],
])('is followed by advice for %s, %s', (code, text, line) => {
  expect(messageOf(errorWith(code, text))).toMatch(new RegExp(`^${line}`));
});

const urlWith = (query: string) => `postgres://a@b/c${query}`;

it.each([
  ['', undefined],
  ['?connect_timeout=10', 10_000],
  ['?sslmode=disable&connect_timeout=1', 1_000],
  // As in libpq.
  ['?connect_timeout=0', undefined],
])('commands wait for a connection as %s says', (query, timeout) => {
  expect(connectTimeoutOf(urlWith(query))).toBe(timeout);
  expect(plainOptions(urlWith(query))).toMatchObject({ applicationName: 'time-logs' });
  expect(plainOptions(urlWith(query)).connectTimeoutMS).toBe(timeout);
});

it.each([
  ['', 2_000],
  ['?connect_timeout=1', 1_000],
  ['?connect_timeout=10', 2_000],
  ['?connect_timeout=0', 2_000],
])('requests wait for a connection as %s says, within the deadline', (query, timeout) => {
  const options = connectionOptions(urlWith(query), [], { poolSize: 1, deadline: 2_500 });
  expect(options.extra).toMatchObject({ connectionTimeoutMillis: timeout });
});

const SUITABLE = {
  version: 150_001,
  encoding: 'UTF8',
  fsync: 'on',
  commit: 'on',
  isolation: 'read committed',
};
const check = (settings: object) => {
  const source = { query: () => Promise.resolve([{ ...SUITABLE, ...settings }]) };
  return requireSuitableDatabase(source as unknown as DataSource, 'connection.url');
};

it.each([{}, { version: 180_004 }, { commit: 'remote_apply' }, { isolation: 'read uncommitted' }])(
  'a start accepts a database with %j',
  async (settings) => {
    await expect(check(settings)).resolves.toBeUndefined();
  },
);

it.each([
  [{ version: 140_011 }, /^PostgreSQL 14 is not supported: use version 15 or later$/],
  [{ encoding: 'LATIN1' }, /^the encoding of the database is LATIN1, .*, and name it in connection\.url$/],
  [{ fsync: 'off' }, /^fsync is off, so a crash of the database would lose logs: turn it on$/],
  [{ commit: 'off' }, /^synchronous_commit is off, .*: run alter role ROLE set synchronous_commit = on$/],
  [{ commit: 'local' }, /^synchronous_commit is local, /],
  [{ commit: 'remote_write' }, /^synchronous_commit is remote_write, /],
  [
    { isolation: 'serializable' },
    /^the default isolation level is serializable, .*: run alter role ROLE set default_transaction_isolation = 'read committed'$/,
  ],
])('a start refuses a database with %j in one line that says what to do', async (settings, message) => {
  await expect(check(settings)).rejects.toThrow(message);
});
