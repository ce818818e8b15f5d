import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { DECLARED_TOKEN as TOKEN } from '../../support/environment.js';
import { useFolder, useTestDatabase } from '../../support/fixtures.js';
import { LOG, TIME_LOGS } from '../../support/requests.js';
import { startHere } from '../../support/service-here.js';
import { unusedPort } from '../../support/unused-port.js';
import { describeWith } from '../describe-with.js';
import { Certificates, fetchOver } from './certificates.js';
import { Daemon } from './daemon.js';

const FILES = join(import.meta.dirname, '..', '..', '..', 'docker', 'proxy');

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

async function startNginx(place: Place): Promise<Daemon> {
  const { folder, port, pem } = place;
  const certificate = '/etc/letsencrypt/live/time-logs.example';
  const site = await settingsOf('nginx.conf', place, {
    'listen 443': `listen 127.0.0.1:${port}`,
    [`${certificate}/fullchain.pem`]: pem,
    [`${certificate}/privkey.pem`]: pem,
  });
  const main = join(folder, 'main.conf');
  // The folders of its package otherwise.
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  await writeFile(
    main,
    `daemon off; pid ${folder}/pid; events {} http { access_log off; ${paths.join(' ')} include ${site}; }\n`,
  );
  return Daemon.start(['nginx', '-e', 'stderr', '-c', main]);
}

async function startCaddy(place: Place): Promise<Daemon> {
  const { folder, port, pem } = place;
  const file = await settingsOf('Caddyfile', place, {
    'auto_https disable_redirects': 'auto_https disable_redirects\n\tadmin off',
    'time-logs.example {': `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${pem} ${pem}`,
  });
  return Daemon.start(['caddy', 'run', '--config', file, '--adapter', 'caddyfile'], { HOME: folder });
}

for (const [program, start] of Object.entries({ nginx: startNginx, caddy: startCaddy })) {
  describeWith(program, 'openssl')(`one server behind ${program}, with the file that ships`, () => {
    const database = useTestDatabase();
    const inFolder = useFolder(`${program}-`);
    let proxy: Daemon | undefined;
    afterEach(() => proxy?.end());

    it('is served over TLS with its headers; without the service the error has its form', async () => {
      const certificates = await Certificates.make(inFolder('certificates'));
      const service = await startHere({ DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN });
      const port = await unusedPort();
      const pem = join(certificates.of('balancer-1'), 'tls.pem');
      const started = await start({ folder: inFolder(), port, service: service.port, pem });
      proxy = started;
      const send = fetchOver(await certificates.identity());
      const url = `https://localhost:${port}`;
      await eventually(async () => expect(await (await send(`${url}/readyz`)).text()).toBe('OK')).catch(
        (error: unknown) => {
          throw new Error(`${String(error)}\n${started.output}`);
        },
      );

      const create = () =>
        send(url + TIME_LOGS, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${TOKEN}`,
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
      const headers = { authorization: `Bearer ${TOKEN}` };
      const list = await send(`${url}${TIME_LOGS}?projectId=${projects}&page=2`, { headers });
      expect([list.status, list.headers.get('link')?.split(projects)]).toEqual([
        200,
        Array(4).fill(expect.anything()),
      ]);

      await service.end();
      const error = await send(`${url}/readyz`);
      expect([error.status, error.headers.get('retry-after'), error.headers.get('content-type')]).toEqual([
        503,
        '1',
        'application/json; charset=utf-8',
      ]);
      expect(await error.json()).toEqual({
        success: false,
        error: 'SERVICE_UNAVAILABLE',
        message: 'the service is unavailable at the moment; retry later',
      });
    });
  });
}
