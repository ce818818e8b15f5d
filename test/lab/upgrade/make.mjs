import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

/*
 * `DATABASE_URL=… EVENTS_URL=nats://… node test/lab/upgrade/make.mjs` fills an empty database with the compiled
 * service, over HTTP and by its commands, and writes it to test/upgrade. That must have `vN.attributes.json`; pg_dump
 * must have the version of the server.
 */

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const FILE = `test/upgrade/v${version.replace(/\.\d+$/, '')}`;
const env = { HOST: '127.0.0.1', PORT: '3999', ATTRIBUTES_SCHEMA: `${FILE}.attributes.json`, ...process.env };
const BASE = `http://${env.HOST}:${env.PORT}/api/v1/time-logs`;
const SCOPES = ['read', 'write', 'correct'].map((scope) => `--scope=time-logs:${scope}`);

const execute = (file, ...args) => execFileSync(file, args, { env, encoding: 'utf8', maxBuffer: 1e8 });
const run = (name, ...args) => execute('node', `dist/src/commands/${name}.command.js`, ...args);
const tokenOf = (...args) => /(tl_\S+)\n$/.exec(run('token', ...args))[1];
const idOf = (name) => new RegExp(`^(\\S+) +${name} `, 'm').exec(run('token', 'list'))[1];
const projects = Array.from({ length: 9 }, (_, number) => `0a000000-0000-4000-8000-00000000000${number}`);

async function send(method, path, body, by = token, key) {
  const headers = { authorization: `Bearer ${by}`, 'content-type': 'application/json' };
  if (key) headers['idempotency-key'] = `key ${key}`;
  const response = await fetch(BASE + path, { method, headers, body: body && JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.status === 204 ? undefined : response.json();
}
/** Logs of three years, unevenly in nine projects, two thirds of them with attributes. */
const logOf = (n) => ({
  projectId: projects[Math.floor(Math.sqrt((n * 29) % 81))],
  duration: [0.1, 7.5, 1e-7, 123456.789, 0.25][n % 5],
  date: new Date(Date.UTC(2024, 0, 1 + ((n * 37) % 1000))).toISOString().slice(0, 10),
  description: [undefined, 'Réunion', 'tab\there, two\nlines \\N', '漢字 😀'][n % 4],
  attributes: n % 3 ? { userId: ['ada', 'grace', 'Ø'][(n % 7) % 3], billable: n % 5 > 0 } : undefined,
});

run('migrate');
const token = tokenOf('create', '--name', 'all', ...SCOPES);
const bound = tokenOf('create', '--name', 'bound', '--project', projects[1], '--project', projects[2]);
const person = tokenOf('create', '--name', 'person', '--attribute', 'userId=ada');
const replaced = tokenOf('create', '--name', 'rotated');
const rotated = tokenOf('rotate', idOf('rotated'));
const revoked = tokenOf('create', '--name', 'revoked');
run('token', 'revoke', idOf('revoked'));

const service = spawn('node', ['dist/src/main.js'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
while (!(await fetch(new URL('/readyz', BASE)).catch(() => undefined))?.ok) await wait(200);
const ids = [];
for (let n = 0; n < 300; n++) ids.push((await send('POST', '', logOf(n), token, n % 2 && n)).data.id);
for (let n = 300; n < 600; n += 50) {
  const timeLogs = Array.from({ length: 50 }, (_, more) => logOf(n + more));
  ids.push(...(await send('POST', '/batch', { timeLogs }, token, n)).data.map(({ id }) => id));
}
const adas = { ...logOf(0), projectId: projects[1], attributes: { userId: 'ada' } };
for (const by of [bound, person, rotated]) await send('POST', '', adas, by, 'own');
for (const id of ids.slice(10, 30)) await send('PUT', `/${id}`, adas);
for (const id of ids.slice(40, 60)) await send('PATCH', `/${id}`, { projectId: projects[3], duration: 2 });
for (const id of ids.slice(560)) await send('PATCH', `/${id}`, { attributes: { userId: 'grace' } });
for (const id of ids.slice(70, 95)) await send('DELETE', `/${id}`);
await wait(15_000); // The counts are folded, and the relay has stored its position.

const events = (await send('GET', '/events?limit=1000')).map(({ id }) => id);
const feed = { events: events.length, digest: createHash('sha256').update(events.join()).digest('hex') };
const { meta, data } = await send('GET', '/totals?by=project');
const perProject = Object.fromEntries(data.map(({ projectId, count }) => [projectId, count]));
service.kill();
await once(service, 'exit');
run('backup', `${FILE}.backup.gz`);
const dump = execute('pg_dump', '--no-owner', env.DATABASE_URL);
writeFileSync(`${FILE}.sql.gz`, gzipSync(dump.replace(/^\\(un)?restrict .*\n/gm, ''), { level: 9 }));
const contents = { token, bound, person, rotated, replaced, revoked, total: meta.count, perProject, feed };
writeFileSync(`${FILE}.json`, `${JSON.stringify(contents, null, 2)}\n`);
