import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { loadConfig } from './config.js';
import { useVerifyFull, validateDatabaseUrl } from './database-url.js';

const FORM_MESSAGE =
  'must be postgres://USER:PASSWORD@HOST:PORT/NAME, with a port from 1 to 65535, an IPv6 address in brackets, and other special characters percent-encoded';
/** Contains PEM. */
const FILE = encodeURIComponent(join(import.meta.dirname, '../../test/support/certificates.ts'));
const ENCODING_MESSAGE =
  'must be percent-encoded: two hexadecimal digits must follow each % (% itself is %25, a space is %20)';
const ONE_HOST_MESSAGE =
  'must name one host: several are not supported, so use an address that leads to the primary';

describe('validateDatabaseUrl', () => {
  it.each([
    'postgres://a@b/c',
    'postgresql://a:b@c.example:5432/d?sslmode=verify-full&application_name=x',
    'postgres://a,b:c,d@e/f',
    'postgres://a:%40%2F%25%C3%A9@b/c',
    'postgres://a:b@[::1]:5432/c',
    'postgres://a:b@[::1]/c',
    'postgres://postgres@%2Fvar%2Frun%2Fpostgresql/c',
    'postgres:///c?host=/var/run/postgresql&port=5433',
    'postgres://a@/c?host=/var/run/postgresql',
    `postgres://a@b/c?sslrootcert=${FILE}`,
    'postgres://b',
    'postgres://b/c?',
    'postgres://a@b/c?user=d&password=p%40%2B%26%2F&application_name=x%20y&connect_timeout=10',
    'postgres://a@b/c?options=-c%20search_path%3Dhours&client_encoding=UTF8&gssencmode=disable',
    'postgres://a@b/c?sslm%6fde=verify-full&channel_binding=disable',
    'postgres://a@b/c?channel_binding=prefer',
    'postgres://a@b/c?sslmode=require&sslnegotiation=direct',
    'postgres://a@b/c?uselibpqcompat=true&sslmode=require',
    'postgres://a@b/c?sslrootcert=system',
    `postgres://a@b/c?uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${FILE}`,
    `postgres://a@b/c?sslcert=${FILE}&sslkey=${FILE}`,
    ...['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'].map(
      (mode) => `postgres://a@b/c?sslmode=${mode}`,
    ),
    ...['true', '1', '0', 'no-verify'].map((value) => `postgres://a@b/c?ssl=${value}`),
  ])('accepts %s', (url) => {
    expect(validateDatabaseUrl(url)).toBeUndefined();
  });

  it.each([
    ['localhost:5432', 'must be a URL that begins with postgres://'],
    ['mysql://a@b/c', 'must be a URL that begins with postgres://'],
    ['postgres://a@b:port/c', FORM_MESSAGE],
    ['postgres://a@b:0/c', FORM_MESSAGE],
    ['postgres://a@b:65536/c', FORM_MESSAGE],
    ['postgres://a@b:-1/c', FORM_MESSAGE],
    ['postgres://a@b/c?port=x', 'must have a whole number from 1 to 65535 in port'],
    ['postgres://a@b/c?port=70000', 'must have a whole number from 1 to 65535 in port'],
    ['postgres://a:12/word@b/c', FORM_MESSAGE],
    ['postgres://a:12?word@b/c', FORM_MESSAGE],
    ['postgres://a:12?word=b@c/d', FORM_MESSAGE],
    ['postgres://a@[::1/c', FORM_MESSAGE],
    ['postgres://a@::1]/c', FORM_MESSAGE],
    ['postgres://a@[::1:5432/c', FORM_MESSAGE],
    ['postgres://a:pass/word@b/c', FORM_MESSAGE],
    ['postgres://a:pass#word@b/c', FORM_MESSAGE],
    ['postgres://a#b:word@b/c', FORM_MESSAGE],
    ['postgres://a:100%@b/c', ENCODING_MESSAGE],
    ['postgres://a:50%zz@b/c', ENCODING_MESSAGE],
    ['postgres://a:%ff@b/c', ENCODING_MESSAGE],
    ['postgres://a:b@c/d%', ENCODING_MESSAGE],
    ['postgres://a:b c@d/e', ENCODING_MESSAGE],
    ['postgres://a@b,c/d', ONE_HOST_MESSAGE],
    ['postgres://a@b:5432,c:5433/d', ONE_HOST_MESSAGE],
    ['postgres://a@/d?host=b,c', ONE_HOST_MESSAGE],
    ['postgres://a@b/c%00d', 'must not contain %00'],
    ['postgres://a%00@b/c', 'must not contain %00'],
    ['postgres://a:b%00@c/d', 'must not contain %00'],
    ['postgres://a@b/c?host=', 'must have a value in host, or omit it'],
    ['postgres://a@/c?host=&port=5433', 'must have a value in host, or omit it'],
    ['postgres:///c?host=%20', 'must have a value in host, or omit it'],
    ['postgres://a@b/c?target_session_attrs=read-write', 'must not contain target_session_attrs'],
    ['postgres://a@b/c?load_balance_hosts=random', 'must not contain load_balance_hosts'],
    ['postgres:///c?hostaddr=10.0.0.1', 'must not contain hostaddr'],
    ['postgres:///?service=x', 'must not contain service'],
    ['postgres://a@b/c?sslrootcert=/nowhere', 'must have the path of a readable PEM file in sslrootcert'],
    [
      `postgres://a@b/c?sslrootcert=${import.meta.dirname}`,
      'must have the path of a readable PEM file in sslrootcert',
    ],
    [
      `postgres://a@b/c?sslrootcert=${join(import.meta.dirname, '../../package.json')}`,
      'must have the path of a readable PEM file in sslrootcert',
    ],
    ['postgres://a@b/c?sslcert=/nowhere', 'must have the path of a readable PEM file in sslcert'],
    ['postgres://a@b/c?sslkey=/nowhere', 'must have the path of a readable PEM file in sslkey'],
  ])('rejects %s', (url, message) => {
    expect(validateDatabaseUrl(url)?.startsWith(message)).toBe(true);
  });

  const LIST =
    '(known: host, port, user, password, application_name, options, connect_timeout, sslmode, sslrootcert, sslcert, sslkey, sslnegotiation, ssl, uselibpqcompat, channel_binding, client_encoding, gssencmode)';
  const SCHEMA = 'name the schema in options=-c%20search_path%3DNAME';
  const MODES = 'disable, allow, prefer, require, verify-ca, verify-full or no-verify';
  const BINDING =
    'must not contain channel_binding, which the driver does not support: remove it, and use sslmode=verify-full';

  it.each([
    ['sslMode=verify-full', 'has an unknown parameter sslMode: did you mean sslmode?'],
    ['ssl_mode=require', 'has an unknown parameter ssl_mode: did you mean sslmode?'],
    ['SSLMODE=require', 'has an unknown parameter SSLMODE: did you mean sslmode?'],
    ['ssl-mode=require', 'has an unknown parameter ssl-mode: did you mean sslmode?'],
    ['ssl%4Dode=require', 'has an unknown parameter sslMode: did you mean sslmode?'],
    ['slmode=require', 'has an unknown parameter slmode: did you mean sslmode?'],
    ['sslmode=disable&sslMode=verify-full', 'has an unknown parameter sslMode: did you mean sslmode?'],
    ['sslRootCert=x', 'has an unknown parameter sslRootCert: did you mean sslrootcert?'],
    ['connection_timeout=5', 'has an unknown parameter connection_timeout: did you mean connect_timeout?'],
    ['ApplicationName=x', 'has an unknown parameter ApplicationName: did you mean application_name?'],
    ['constructor=x', `has an unknown parameter constructor ${LIST}`],
    ['x%0Ay=z', `has an unknown parameter ${LIST}`],
    ['=x', `has an unknown parameter ${LIST}`],
    ['password=one&two', `has an unknown parameter ${LIST}`],
    ['channel_binding=require', BINDING],
    ['sslmode=require&channel_binding=require', BINDING],
    ['channel_binding=Prefer', BINDING],
    ['channelBinding=require', 'has an unknown parameter channelBinding: did you mean channel_binding?'],
    ['schema=hours', `must not contain schema: ${SCHEMA}`],
    ['currentSchema=hours', `must not contain currentSchema: ${SCHEMA}`],
    ['search_path=hours', `must not contain search_path: ${SCHEMA}`],
    ['dbname=hours', 'must not contain dbname: name the database in the path'],
    ['connection_limit=5', 'must not contain connection_limit: set POOL_SIZE'],
    ['statement_timeout=5', 'must not contain statement_timeout: set DEADLINE'],
    ['sslcrl=/x', 'must not contain sslcrl, which is not supported'],
    ['sslmode=', 'must have a value in sslmode, or omit it'],
    ['sslmode', 'must have a value in sslmode, or omit it'],
    ['sslmode=%20', 'must have a value in sslmode, or omit it'],
    ['sslmode=required', `must have ${MODES} in sslmode`],
    ['sslmode=Require', `must have ${MODES} in sslmode`],
    ['sslmode=require&sslmode=disable', 'must contain sslmode only once'],
    ['sslmode=require&sslm%6Fde=require', 'must contain sslmode only once'],
    ['ssl=false', 'must have true, 1, 0 or no-verify in ssl'],
    ['ssl=true&sslmode=disable', 'must not contain both ssl and sslmode'],
    [
      `ssl=0&sslrootcert=${FILE}`,
      'must not contain files of certificates together with this ssl: use sslmode',
    ],
    [`sslcert=${FILE}`, 'must contain both sslcert and sslkey, or none'],
    [`sslkey=${FILE}`, 'must contain both sslcert and sslkey, or none'],
    ['sslnegotiation=direct&sslmode=disable', 'must not contain sslnegotiation=direct without TLS'],
    ['sslnegotiation=direct&ssl=0', 'must not contain sslnegotiation=direct without TLS'],
    ['sslnegotiation=Direct', 'must have postgres or direct in sslnegotiation'],
    ['sslrootcert=system&sslmode=require', 'must have verify-full in sslmode with sslrootcert=system'],
    [
      'uselibpqcompat=true&sslmode=verify-ca',
      'must contain sslrootcert with sslmode=verify-ca and uselibpqcompat=true',
    ],
    ['uselibpqcompat=1', 'must have true or false in uselibpqcompat'],
    ['connect_timeout=5s', 'must have a whole number from 0 to 1000000 in connect_timeout'],
    ['connect_timeout=-1', 'must have a whole number from 0 to 1000000 in connect_timeout'],
    ['client_encoding=latin1', 'must have UTF8, utf8, UTF-8 or utf-8 in client_encoding'],
    ['gssencmode=require', 'must have disable in gssencmode'],
    ['password=a+b', 'must have %2B for each + after the ?, or %20 for a space'],
  ])('refuses ?%s in one line', (query, message) => {
    const url = `postgres://ada:sesame@db.example/logs?${query}`;
    expect(validateDatabaseUrl(url)).toBe(message);
  });

  it('is applied to both settings, in one line with the name of each', () => {
    const url = 'postgres://ada:sesame@db.example/logs?sslMode=verify-full';
    const message = 'has an unknown parameter sslMode: did you mean sslmode?';
    const env = { DATABASE_URL: url, MIGRATION_DATABASE_URL: url };
    expect(() => loadConfig(env, false)).toThrow(
      new Error(`DATABASE_URL: ${message}\nMIGRATION_DATABASE_URL: ${message}`),
    );
  });
});

describe('useVerifyFull', () => {
  it.each([
    ['postgres://a@b/c?sslmode=require', 'postgres://a@b/c?sslmode=verify-full'],
    ['postgres://a@b/c?user=y&sslmode=prefer&port=1', 'postgres://a@b/c?user=y&sslmode=verify-full&port=1'],
    ['postgres://a@b/c?sslmode=allow', 'postgres://a@b/c?sslmode=verify-full'],
    ['postgres://a@b/c?sslm%6fde=require', 'postgres://a@b/c?sslmode=verify-full'],
    ['postgres://a@/c?host=%2Frun&sslmode=require', 'postgres://a@/c?host=%2Frun&sslmode=verify-full'],
    ['postgres://a@b/c?sslrootcert=system', 'postgres://a@b/c?sslmode=verify-full'],
    ['postgres://a@b/c?sslmode=verify-ca', 'postgres://a@b/c?sslmode=verify-full'],
    [
      'postgres://a@b/c?options=-c%20x%3D1%2B2&sslmode=require',
      'postgres://a@b/c?options=-c%20x%3D1%2B2&sslmode=verify-full',
    ],
  ])('replaces the mode of %s', (url, full) => {
    expect(useVerifyFull(url)).toBe(full);
    expect(validateDatabaseUrl(full)).toBeUndefined();
  });

  it.each([
    'postgres://a@b/c',
    'postgres://a@b/c?sslmode=disable',
    'postgres://a@b/c?sslmode=no-verify',
    'postgres://a@b/sslmode=require',
    'postgres://a@b/c?uselibpqcompat=true&sslmode=require',
  ])('does not change %s', (url) => {
    expect(useVerifyFull(url)).toBe(url);
  });
});
