import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { DECLARED_TOKEN as TOKEN } from '../../support/environment.js';
import { useFolder, useTestDatabase } from '../../support/fixtures.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { rawRequest } from '../../support/raw-http.js';
import { LOG, refusal, TIME_LOGS } from '../../support/requests.js';
import {
  endProcess,
  type Printing,
  type ServiceProcess,
  startService,
} from '../../support/service-process.js';
import { unusedPort } from '../../support/unused-port.js';
import { describeWith } from '../describe-with.js';
import { measureProcess } from '../bench/measure.js';
import { fetchOver, type Identity, identityOf, makeCertificates } from './certificates.js';
import { startDaemon } from './daemon.js';

const FILES = join(import.meta.dirname, '..', '..', '..', 'docker', 'proxy');

/** Clients that read nothing, and how many begin at a time. */
const SLOW_CLIENTS = 200;
const BEGINNING = 4;
/** The addresses of the clients: nginx takes 100 requests of one at a time. */
const ADDRESSES = 10;
/** A page of 5 MB, more than the kernel keeps for a connection. */
const PAGE_ITEMS = 250;
const MAX_MORE_MEMORY_MB = 128;

/** The addresses of a test, and a file with a certificate and its key. */
interface Place {
  readonly folder: string;
  readonly port: number;
  readonly service: number;
  readonly pem: string;
}

/** Writes the file that ships, with the addresses of the test. Returns its path. */
async function settingsOf(
  name: string,
  { folder, service }: Place,
  changes: Record<string, string>,
): Promise<string> {
  let text = await readFile(join(FILES, name), 'utf8');
  for (const [from, to] of Object.entries({ ...changes, '127.0.0.1:3000': `127.0.0.1:${service}` })) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

async function startNginx(place: Place): Promise<Printing> {
  const { folder, port, pem } = place;
  const certificate = '/etc/letsencrypt/live/time-logs.example';
  const site = await settingsOf('nginx.conf', place, {
    'listen 443': `listen 127.0.0.1:${port}`,
    [`${certificate}/fullchain.pem`]: pem,
    [`${certificate}/privkey.pem`]: pem,
  });
  const main = join(folder, 'main.conf');
  // Otherwise the workers of root run as an account that may not use the folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  // The folders of its package otherwise.
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  await writeFile(
    main,
    `daemon off; ${user} pid ${folder}/pid; events {} http { access_log off; ${paths.join(' ')} include ${site}; }\n`,
  );
  return startDaemon(['nginx', '-e', 'stderr', '-c', main]);
}

async function startCaddy(place: Place): Promise<Printing> {
  const { folder, port, pem } = place;
  const version = String(spawnSync('caddy', ['version']).stdout);
  // As the file says.
  const isOld = /^v?2\.(?:[0-5]\.|6\.[0-2]\b)/.test(version);
  const file = await settingsOf('Caddyfile', place, {
    ...(isOld && { 'response_buffers 24MiB': 'buffer_responses\n\t\tmax_buffer_size 24MiB' }),
    'auto_https disable_redirects': 'auto_https disable_redirects\n\tadmin off',
    'time-logs.example {': `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${pem} ${pem}`,
  });
  return startDaemon(['caddy', 'run', '--config', file, '--adapter', 'caddyfile'], { HOME: folder });
}

/** Stores the logs of a page, with descriptions of the maximum length, each of whose code points has four bytes. */
async function fillPage(url: string): Promise<void> {
  await queryOnce(
    url,
    `insert into time_logs (id, project_id, duration, description, date)
     select (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
            $1::uuid, 1, repeat('😀', 5000), '2026-01-31'
       from generate_series(1, $2) n, lpad(to_hex(1769850000000 + n), 12, '0') hex`,
    [LOG.projectId, PAGE_ITEMS],
  );
}

/** Requests the page until it begins. Resolves with a connection on which the rest is not read. */
async function readSlowly(port: number, { ca }: Identity, client: number): Promise<TLSSocket> {
  for (;;) {
    const localAddress = `127.0.0.${2 + (client % ADDRESSES)}`;
    const tcp = connectTcp({ port, host: '127.0.0.1', localAddress });
    const socket = connectTls({ socket: tcp, ca, servername: 'localhost' }).on('error', () => undefined);
    const lines = ['Host: localhost', `Authorization: Bearer ${TOKEN}`, 'Connection: close'];
    socket.write(rawRequest(`GET ${TIME_LOGS}?limit=${PAGE_ITEMS} HTTP/1.1`, ...lines));
    const head = await new Promise<Buffer | undefined>((resolve) =>
      socket.once('data', resolve).once('close', () => resolve(undefined)),
    );
    if (head?.toString('latin1', 0, 12) === 'HTTP/1.1 200') return socket.pause();
    socket.destroy();
    await delay(100);
  }
}

for (const [program, start] of Object.entries({ nginx: startNginx, caddy: startCaddy })) {
  describeWith(program, 'openssl')(`one server behind ${program}, with the file that ships`, () => {
    const database = useTestDatabase();
    const inFolder = useFolder(`${program}-`);
    let service: ServiceProcess;
    let proxy: Printing;
    let port: number;
    let identity: Identity;
    const headers = { authorization: `Bearer ${TOKEN}` };

    beforeAll(async () => {
      const certificates = await makeCertificates(inFolder('certificates'));
      identity = await identityOf(certificates);
      service = await startService({ DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN });
      port = await unusedPort();
      const pem = join(certificates, 'balancer-1', 'tls.pem');
      proxy = await start({ folder: inFolder(), port, service: service.port, pem });
      await eventually(async () => expect(await (await send('/readyz')).text()).toBe('OK')).catch(
        (error: unknown) => {
          throw new Error(`${String(error)}\n${proxy.output()}`);
        },
      );
    });
    afterAll(async () => {
      await service.end();
      await endProcess(proxy.child);
    });

    const send = (path: string, init?: RequestInit) =>
      fetchOver(identity)(`https://localhost:${port}${path}`, init);

    it('is served over TLS with its headers', async () => {
      const create = () =>
        send(TIME_LOGS, {
          method: 'POST',
          headers: {
            ...headers,
            'content-type': 'application/json',
            'idempotency-key': 'key',
            'x-request-id': 'mine',
          },
          body: JSON.stringify(LOG),
        });
      const answers = [await create(), await create()];
      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      const [first, second] = answers.map(({ headers }) => headers);
      expect([first!.get('x-request-id'), second!.get('idempotency-replayed')]).toEqual(['mine', 'true']);
      // Its Link header names them in each reference.
      const projects = Array.from({ length: 100 }, () => randomUUID()).join();
      const list = await send(`${TIME_LOGS}?projectId=${projects}&page=2`, { headers });
      expect([list.status, list.headers.get('link')?.split(projects)]).toEqual([
        200,
        Array(4).fill(expect.anything()),
      ]);
    });

    it(`holds the answers to ${SLOW_CLIENTS} clients that read slowly, so that the service need not`, async () => {
      const memory = async () => (await measureProcess(service.child.pid!)).memory / 2 ** 20;
      const clients: TLSSocket[] = [];
      try {
        await fillPage(database.url);
        const page = `${service.url}${TIME_LOGS}?limit=${PAGE_ITEMS}`;
        // Code is compiled, and the heap has grown.
        for (let i = 0; i < 20; i++) await (await fetch(page, { headers })).arrayBuffer();
        const before = await memory();
        let begun = 0;
        const begin = async () => {
          while (begun < SLOW_CLIENTS) clients.push(await readSlowly(port, identity, begun++));
        };
        await Promise.all(Array.from({ length: BEGINNING }, begin));
        const after = await memory();
        console.log(`${program}: ${before.toFixed()} to ${after.toFixed()} MB`);
        expect(after - before).toBeLessThan(MAX_MORE_MEMORY_MB);
      } finally {
        for (const client of clients) client.destroy();
      }
    });

    it('answers in the form of all errors where the service is gone', async () => {
      await service.end();
      const error = await send('/readyz');
      expect([error.status, error.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await error.json()).toEqual(
        refusal('SERVICE_UNAVAILABLE', 'the service is unavailable at the moment; retry later'),
      );
    });
  });
}
