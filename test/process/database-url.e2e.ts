import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { CERTIFICATE, KEY, OTHER_CERTIFICATE } from '../support/certificates.js';
import { runHere } from '../support/service-here.js';
import { useFolder, useTestDatabase } from '../support/fixtures.js';
import { createTestDatabase } from '../support/test-database.js';

/** The length and the code of a request for TLS (PostgreSQL, message formats). */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

const database = useTestDatabase(createTestDatabase);
const inFolder = useFolder('time-logs-database-url-');
const connections = { plain: 0, encrypted: 0 };
const sockets: Socket[] = [];
/** PostgreSQL with TLS, which it has no more over a socket of Unix. */
const server = createServer((client) => {
  sockets.push(client.on('error', () => undefined));
  client.once('data', (first) => {
    const postgres = connect(`${decodeURIComponent(new URL(database.url).hostname)}/.s.PGSQL.5432`);
    sockets.push(postgres.on('error', () => undefined));
    if (!TLS_REQUEST.equals(first)) {
      connections.plain++;
      postgres.write(first);
      client.pipe(postgres).pipe(client);
      return;
    }
    client.write('S');
    const secure = new TLSSocket(client, { isServer: true, cert: CERTIFICATE, key: KEY });
    secure.on('error', () => postgres.destroy());
    secure.once('secure', () => connections.encrypted++);
    secure.pipe(postgres).pipe(secure);
  });
});

beforeAll(async () => {
  await writeFile(inFolder('ca'), CERTIFICATE);
  await writeFile(inFolder('other'), OTHER_CERTIFICATE);
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
beforeEach(() => {
  connections.plain = connections.encrypted = 0;
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

const address = () => `127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Runs `npm run migrate` with parameters in the URL, in which CA and OTHER are files. */
function migrateWith(query: string) {
  const { username, pathname } = new URL(database.url);
  const parameters = query
    .replace('CA', encodeURIComponent(inFolder('ca')))
    .replace('OTHER', encodeURIComponent(inFolder('other')));
  const url = `postgres://${username}:sesame@${address()}${pathname}?${parameters}`;
  return runHere('migrate', [], { DATABASE_URL: url });
}

it.each([
  ...['allow', 'prefer', 'require', 'verify-ca', 'verify-full'].map(
    (mode) => `sslmode=${mode}&sslrootcert=CA`,
  ),
  ...['sslrootcert=CA', 'ssl=true&sslrootcert=CA', 'sslm%6fde=require&sslrootcert=CA'],
  ...['sslmode=no-verify', 'ssl=no-verify', 'uselibpqcompat=true&sslmode=require'],
  'uselibpqcompat=true&sslmode=verify-ca&sslrootcert=CA',
])('connects with TLS alone with ?%s', async (query) => {
  expect(await migrateWith(query)).toMatchObject({ code: 0 });
  expect(connections).toEqual({ plain: 0, encrypted: expect.any(Number) });
  expect(connections.encrypted).toBeGreaterThan(0);
});

it.each([
  ...['require', 'verify-ca', 'verify-full', 'prefer', 'allow'].map(
    (mode) => `sslmode=${mode}&sslrootcert=OTHER`,
  ),
  ...['sslmode=require', 'ssl=true', 'ssl=1', 'sslrootcert=system', 'sslrootcert=OTHER'],
  'uselibpqcompat=true&sslmode=require&sslrootcert=OTHER',
])('refuses the certificate of the server with ?%s', async (query) => {
  const { code, stderr } = await migrateWith(query);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^the certificate of \S+ is not accepted \([^\n]*\): set DATABASE_URL to the host of the certificate, with sslrootcert for its issuer\n$/,
  );
  expect(connections.plain).toBe(0);
});

it.each(['', 'sslmode=disable', 'ssl=0'])('connects without TLS with ?%s', async (query) => {
  expect(await migrateWith(query)).toMatchObject({ code: 0 });
  expect(connections.encrypted).toBe(0);
});
