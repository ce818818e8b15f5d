import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { loadConfig } from './config.js';
import { useVerifyFull, validateDatabaseUrl } from './database-url.js';

/** Contains PEM. */
const FILE = encodeURIComponent(join(import.meta.dirname, '../../test/support/certificates.ts'));
const FORM =
  'must be postgres://USER:PASSWORD@HOST:PORT/NAME, with one host, a port from 1 to 65535, an IPv6 address in brackets, and other special characters percent-encoded';
const PORT = 'must have a whole number from 1 to 65535 in port';
const PEM = 'must have the path of a readable PEM file in';
const MODES = 'disable, allow, prefer, require, verify-ca, verify-full or no-verify';
const BINDING = 'must have disable or prefer in channel_binding';
const KNOWN =
  '(known: host, port, user, password, application_name, options, connect_timeout, pgbouncer, sslmode, sslrootcert, sslcert, sslkey, sslnegotiation, ssl, uselibpqcompat, channel_binding, client_encoding, gssencmode)';

const withQuery = (query: string) => `postgres://ada:sesame@db.example/logs?${query}`;
const eachOf = (urls: readonly string[], message: string) => urls.map((url) => [url, message] as const);

describe('validateDatabaseUrl', () => {
  it.each([
    ...['postgres://b', 'postgresql://a:b@c.example:5432/d?sslmode=verify-full', 'postgres://a,b:c,d@e/f'],
    ...['postgres://a:%40%2F%25%C3%A9@b/c', 'postgres://a:b@[::1]:5432/c', 'postgres://a:b@[::1]/c'],
    ...['postgres://postgres@%2Fvar%2Frun%2Fpostgresql/c', 'postgres://a@/c?host=/var/run/postgresql'],
    ...['postgres:///c?host=/var/run/postgresql&port=5433', 'postgres://b/c?'],
    ...[
      'user=d&password=p%40%2B%26%2F&application_name=x%20y&connect_timeout=10',
      'options=-c%20search_path%3Dhours&client_encoding=UTF8&gssencmode=disable',
      ...[
        'sslm%6fde=verify-full&channel_binding=disable',
        'channel_binding=prefer',
        'sslrootcert=system',
        'pgbouncer=true',
      ],
      ...['sslmode=require&sslnegotiation=direct', 'uselibpqcompat=true&sslmode=require'],
      `uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${FILE}`,
      `sslcert=${FILE}&sslkey=${FILE}&sslrootcert=${FILE}`,
      ...MODES.split(/, | or /).map((mode) => `sslmode=${mode}`),
      ...['true', '1', '0', 'no-verify'].map((value) => `ssl=${value}`),
    ].map(withQuery),
  ])('accepts %s', (url) => {
    expect(validateDatabaseUrl(url)).toBeUndefined();
  });

  it.each<readonly [string, string]>([
    ...eachOf(['localhost:5432', 'mysql://a@b/c'], FORM),
    ...eachOf(['postgres://a@b:port/c', 'postgres://a@b:0/c', 'postgres://a@b:65536/c'], FORM),
    ...eachOf(['postgres://a@b/c?port=x', 'postgres://a@b/c?port=70000'], PORT),
    ...eachOf(['postgres://a@[::1/c', 'postgres://a@::1]/c', 'postgres://a@[::1:5432/c'], FORM),
    // A password with a special character that is not encoded.
    ...eachOf(['postgres://a:12/word@b/c', 'postgres://a:12?word=b@c/d', 'postgres://a:pass/word@b/c'], FORM),
    ...eachOf(['postgres://a:12?word@b/c', 'postgres://a:pass#word@b/c', 'postgres://a#b:word@b/c'], FORM),
    ...eachOf(['postgres://a:100%@b/c', 'postgres://a:50%zz@b/c', 'postgres://a:%ff@b/c'], FORM),
    ...eachOf(['postgres://a:b@c/d%', 'postgres://a:b c@d/e'], FORM),
    ...eachOf(['postgres://a@b,c/d', 'postgres://a@b:5432,c:5433/d'], FORM),
    ...eachOf(['postgres://a@/d?host=b,c'], 'must have one host in host'),
    ...eachOf(['postgres://a@b/c%00d', 'postgres://a%00@b/c', 'postgres://a:b%00@c/d'], FORM),
    ...eachOf(['postgres://a@b/c?host=', 'postgres:///c?host=%20'], 'must have a value in host, or omit it'),
  ])('rejects %s', (url, message) => {
    expect(validateDatabaseUrl(url)).toBe(message);
  });

  it.each<readonly [string, string]>([
    ...['sslMode', 'ssl_mode', 'slmode', 'schema', 'dbname', 'statement_timeout', 'sslcrl', 'service'].map(
      (name) => [`${name}=require`, `has an unknown parameter ${name} ${KNOWN}`] as const,
    ),
    ['sslmode=disable&ssl%4Dode=verify-full', `has an unknown parameter sslMode ${KNOWN}`],
    ['constructor=x', `has an unknown parameter constructor ${KNOWN}`],
    ...eachOf(['x%0Ay=z', '=x', 'password=one&two'], `has an unknown parameter ${KNOWN}`),
    ...eachOf(['channel_binding=require', 'channel_binding=Prefer'], BINDING),
    ...eachOf(['sslmode=required', 'sslmode=Require'], `must have ${MODES} in sslmode`),
    ['sslmode=require&sslm%6Fde=require', 'must contain sslmode only once'],
    ['ssl=false', 'must have true, 1, 0 or no-verify in ssl'],
    ...['sslcert', 'sslkey', 'sslrootcert'].map((name) => [`${name}=/nowhere`, `${PEM} ${name}`] as const),
    [`sslrootcert=${encodeURIComponent(import.meta.dirname)}`, `${PEM} sslrootcert`],
    [`sslrootcert=${encodeURIComponent(import.meta.filename)}`, `${PEM} sslrootcert`],
    ['pgbouncer=yes', 'must have true or false in pgbouncer'],
    ['connect_timeout=5s', 'must have a whole number from 0 to 1000000 in connect_timeout'],
    ['client_encoding=latin1', 'must have UTF8, utf8, UTF-8 or utf-8 in client_encoding'],
    ['gssencmode=require', 'must have disable in gssencmode'],
    ['password=a+b', 'must have %2B for each + after the ?, or %20 for a space'],
  ])('refuses ?%s in one line', (query, message) => {
    expect(validateDatabaseUrl(withQuery(query))).toBe(message);
  });

  it('is applied to both settings, in one line with the name of each', () => {
    const [DATABASE_URL, MIGRATION_DATABASE_URL] = [withQuery('sslMode=x'), withQuery('sslMode=x')];
    const message = `has an unknown parameter sslMode ${KNOWN}`;
    expect(() => loadConfig({ DATABASE_URL, MIGRATION_DATABASE_URL }, false)).toThrow(
      new Error(`DATABASE_URL: ${message}\nMIGRATION_DATABASE_URL: ${message}`),
    );
  });
});

describe('useVerifyFull', () => {
  it.each([
    ...[
      'sslmode=require',
      'sslmode=allow',
      'sslmode=verify-ca',
      'sslm%6fde=require',
      'sslrootcert=system',
    ].map((query) => [query, 'sslmode=verify-full']),
    ['user=y&sslmode=prefer&port=1', 'user=y&sslmode=verify-full&port=1'],
    ['host=%2Frun&sslmode=require', 'host=%2Frun&sslmode=verify-full'],
    ['options=-c%20x%3D1%2B2&sslmode=require', 'options=-c%20x%3D1%2B2&sslmode=verify-full'],
  ])('replaces the mode of ?%s', (query, full) => {
    expect(useVerifyFull(withQuery(query))).toBe(withQuery(full));
    expect(validateDatabaseUrl(withQuery(full))).toBeUndefined();
  });

  it.each([
    ...['postgres://a@b/c', 'postgres://a@b/sslmode=require'],
    ...['sslmode=disable', 'sslmode=no-verify', 'uselibpqcompat=true&sslmode=require'].map(withQuery),
  ])('does not change %s', (url) => {
    expect(useVerifyFull(url)).toBe(url);
  });
});
