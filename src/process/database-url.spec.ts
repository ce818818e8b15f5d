import { describe, expect, it } from '@jest/globals';
import { useVerifyFull, validateDatabaseUrl } from './database-url.js';

const FORM_MESSAGE =
  'must be postgres://USER:PASSWORD@HOST:PORT/NAME, with a port from 1 to 65535, an IPv6 address in brackets, and other special characters percent-encoded';
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
    `postgres://a@b/c?sslrootcert=${encodeURIComponent(import.meta.filename)}`,
    'postgres://b',
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
    ['postgres://a@b/c?port=x', FORM_MESSAGE],
    ['postgres://a@b/c?port=70000', FORM_MESSAGE],
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
    ['postgres://a@b/c?host=', 'must name the server in host'],
    ['postgres://a@/c?host=&port=5433', 'must name the server in host'],
    ['postgres:///c?host=%20', 'must name the server in host'],
    ['postgres://a@b/c?target_session_attrs=read-write', 'must not contain target_session_attrs'],
    ['postgres://a@b/c?load_balance_hosts=random', 'must not contain load_balance_hosts'],
    ['postgres:///c?hostaddr=10.0.0.1', 'must not contain hostaddr'],
    ['postgres:///?service=x', 'must not contain service'],
    ['postgres://a@b/c?sslrootcert=/nowhere', 'must name a readable file in sslrootcert'],
    ['postgres://a@b/c?sslcert=/nowhere', 'must name a readable file in sslcert'],
    ['postgres://a@b/c?sslkey=/nowhere', 'must name a readable file in sslkey'],
  ])('rejects %s', (url, message) => {
    expect(validateDatabaseUrl(url)?.startsWith(message)).toBe(true);
  });
});

describe('useVerifyFull', () => {
  it.each([
    ['postgres://a@b/c?sslmode=require', 'postgres://a@b/c?sslmode=verify-full'],
    ['postgres://a@b/c?x=y&sslmode=prefer&z=1', 'postgres://a@b/c?x=y&sslmode=verify-full&z=1'],
    ['postgres://a@b/c?sslmode=verify-ca', 'postgres://a@b/c?sslmode=verify-full'],
  ])('replaces the mode of %s', (url, full) => {
    expect(useVerifyFull(url)).toBe(full);
  });

  it.each([
    'postgres://a@b/c',
    'postgres://a@b/c?sslmode=disable',
    'postgres://a@b/c?sslmode=no-verify',
    'postgres://a@b/c?sslmode=required',
    'postgres://a@b/sslmode=require',
    'postgres://a@b/c?uselibpqcompat=true&sslmode=require',
  ])('does not change %s', (url) => {
    expect(useVerifyFull(url)).toBe(url);
  });
});
