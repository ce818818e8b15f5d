import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { useFolder, useTestDatabase } from '../../support/fixtures.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { TIME_LOGS } from '../../support/requests.js';
import { unusedPort } from '../../support/unused-port.js';
import { describeWith } from '../describe-with.js';
import { eventually } from '../eventually.js';
import { Daemon } from '../fleet/daemon.js';
import { linesOf, useService } from './support/serve.js';
import { TOKEN } from './support/service-under-writes.js';

const EXPORT = `${TIME_LOGS}/export?format=ndjson`;
const LOGS = 30_000;
const authorization = `Bearer ${TOKEN}`;
const database = useTestDatabase();
const service = useService(async () => database.url);
beforeAll(() =>
  queryOnce(
    database.url,
    `insert into time_logs (id, project_id, duration, description, date)
     select ('019c1370-' || lpad(to_hex(n), 4, '0') || '-7000-8000-000000000000')::uuid,
            '0b000000-0000-4000-8000-000000000001', 1, repeat('x', 5000), '2026-01-31'
       from generate_series(1, ${LOGS}) n`,
  ),
);

const running = () =>
  queryOnce<{ pid: number }>(
    database.url,
    `select pid from pg_stat_activity where datname = current_database() and query like 'copy %' and state = 'active'`,
  );
const untilNoneRuns = () => eventually(async () => expect(await running()).toEqual([]));

/** A client that takes some bytes a second, or none. Resolves when it is cut. */
async function readSlowly(rate: number): Promise<void> {
  const socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(`GET ${EXPORT} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
  await once(socket, 'data');
  socket.pause();
  await eventually(async () => expect(await running()).toHaveLength(1));
  if (rate > 0)
    socket
      .on('data', ({ length }: Buffer) => {
        socket.pause();
        setTimeout(() => socket.resume(), (length / rate) * 1_000).unref();
      })
      .resume();
  await untilNoneRuns();
  socket.resume();
  await closed;
}

it.each([20_000, 0])('a client that reads %d bytes a second is cut, and the log says why', async (rate) => {
  const before = linesOf(service, /an export ended early: the client reads less than 256 kB a second/);
  await readSlowly(rate);
  expect(linesOf(service, /an export ended early: the client reads less than 256 kB a second/)).toBe(
    before + 1,
  );
});

it('a client that leaves ends the export at the server', async () => {
  const socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
  socket.write(`GET ${EXPORT} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
  await once(socket, 'data');
  socket.pause();
  await eventually(async () => expect(await running()).toHaveLength(1));
  socket.destroy();
  await untilNoneRuns();
});

describeWith('nginx')('behind nginx, which speaks HTTP/1.0', () => {
  const inFolder = useFolder('nginx-export-');
  let nginx: Daemon | undefined;
  afterEach(() => nginx?.end());

  it('no part looks complete if the server ends its connection', async () => {
    const [folder, port] = [inFolder(), await unusedPort()];
    const file = join(folder, 'nginx.conf');
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    await writeFile(
      file,
      `daemon off; pid ${folder}/pid; events {} http { access_log off; ${paths.join(' ')} server {
         listen 127.0.0.1:${port}; proxy_max_temp_file_size 0;
         location / { proxy_pass http://127.0.0.1:${service.port}; } } }`,
    );
    nginx = Daemon.start(['nginx', '-e', 'stderr', '-c', file]);
    const read = (act: () => Promise<unknown>) =>
      new Promise<[lines: number, isComplete: boolean]>((resolve, reject) => {
        request({ port, host: '127.0.0.1', path: EXPORT, headers: { authorization } }, (answer) => {
          let lines = 0;
          answer.on('error', () => undefined).on('close', () => resolve([lines, answer.complete]));
          answer.once('data', () => {
            answer.pause();
            void act().then(() => answer.resume());
          });
          answer.on('data', (bytes: Buffer) => (lines += bytes.toString('latin1').split('\n').length - 1));
        })
          .on('error', reject)
          .end();
      });
    await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200));
    expect(await read(() => delay(1))).toEqual([LOGS, true]);
    const [lines, isComplete] = await read(async () => {
      const [backend] = await eventually(async () => {
        const found = await running();
        expect(found).toHaveLength(1);
        return found;
      });
      await queryOnce(database.url, 'select pg_terminate_backend($1)', [backend!.pid]);
      await untilNoneRuns();
    });
    expect([lines < LOGS, isComplete]).toEqual([true, false]);
    // Full buffers may keep back the last message of the server.
    await eventually(async () => expect(linesOf(service, /an export ended early: (?!the client)/)).toBe(1));
  });
});
