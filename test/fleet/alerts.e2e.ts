import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ask } from '../faults/support/ask.js';
import { eventually } from '../faults/support/eventually.js';
import { PostgresCluster, queryOnce } from '../faults/support/postgres-cluster.js';
import { TOKEN } from '../faults/support/service-under-writes.js';
import { unusedPort } from '../messages/brokers.js';
import { environment } from '../support/environment.js';
import { type ServiceProcess, startService } from '../support/service-process.js';
import { Daemon, describeWith } from './daemon.js';

const run = promisify(execFile);
const PROJECT = join(import.meta.dirname, '..', '..');
const RULES = join(PROJECT, 'docker', 'fleet', 'alerts.yaml');
const TOKENS = join(PROJECT, 'dist', 'src', 'commands', 'token.command.js');
const LOG = JSON.stringify({ projectId: crypto.randomUUID(), duration: 1, date: '2026-01-31' });

describeWith('prometheus', 'promtool')('the rules of Prometheus', () => {
  let place: string;
  let postgres: PostgresCluster;
  let databaseUrl: string;
  let service: ServiceProcess;
  let prometheus: Daemon;
  let url: string;

  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'alerts-'));
    postgres = await PostgresCluster.create();
    databaseUrl = await postgres.createDatabase();
    // No broker listens there.
    const env = { ACCESS_TOKEN: TOKEN, EVENTS_URL: `nats://127.0.0.1:${await unusedPort()}` };
    service = await startService({ DATABASE_URL: databaseUrl, ...env });
    const args = [TOKENS, 'create', '--name', 'Prometheus', '--scope', 'metrics:read'];
    const token = await run(process.execPath, args, { env: environment({ DATABASE_URL: databaseUrl }) });
    await writeFile(join(place, 'token'), token.stdout.trim().split('\n').at(-1)!);
    await writeFile(join(place, 'alerts.yaml'), hastened(await readFile(RULES, 'utf8')));
    await writeFile(
      join(place, 'prometheus.yaml'),
      `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: time-logs
    authorization: { credentials_file: token }
    static_configs: [{ targets: ['127.0.0.1:${service.port}'] }]
`,
    );
    const port = await unusedPort();
    url = `http://127.0.0.1:${port}`;
    prometheus = Daemon.start([
      'prometheus',
      `--config.file=${join(place, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(place, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]);
  });
  afterAll(async () => {
    await prometheus.end();
    await service.end('SIGKILL');
    await postgres.remove();
    await rm(place, { recursive: true, force: true });
  });

  const query = async (path: string) => (await (await fetch(`${url}/api/v1/${path}`)).json()) as Answer;
  /** The names of the alerts that fire. */
  const firing = async () => {
    const { data } = await query('alerts');
    return data.alerts!.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
  };
  const fire = (...names: string[]) =>
    eventually(async () => expect(await firing()).toEqual(expect.arrayContaining(names)));
  const create = () => ask(`${service.url}/api/v1/time-logs`, { body: LOG });
  const list = () => ask(`${service.url}/api/v1/time-logs`);

  it('are right, and fire when and only when they are meant to', async () => {
    await run('promtool', ['check', 'rules', RULES]);
    const { stdout } = await run('promtool', [
      'test',
      'rules',
      join(import.meta.dirname, 'alerts.test.yaml'),
    ]);
    expect(stdout).toContain('SUCCESS');
  });

  it('are quiet over a service that is well, and fire over a real one that is not', async () => {
    await eventually(async () => {
      const { data } = await query(`query?query=${encodeURIComponent('up{job="time-logs"}')}`);
      expect(data.result?.map(({ value }) => value[1])).toEqual(['1']);
    });
    expect(await list()).toMatchObject({ status: 200 });
    // Before its first look at the service Prometheus knew of no instance.
    await eventually(async () => expect(await firing()).toEqual([]));

    // Its event waits for the broker.
    expect(await create()).toMatchObject({ status: 201 });
    await fire('TimeLogsEventLag');

    await queryOnce(databaseUrl, 'alter function time_log_page_v2 rename to away');
    expect(await list()).toMatchObject({ status: 500 });
    await fire('TimeLogsErrors');
    await queryOnce(databaseUrl, 'alter function away rename to time_log_page_v2');

    await postgres.query(`alter system set synchronous_standby_names = 'nobody'`);
    await postgres.query('select pg_reload_conf()');
    let isDone = false;
    const clients = Array.from({ length: 60 }, async () => {
      while (!isDone) await create();
    });
    try {
      await fire('TimeLogsRefused', 'TimeLogsTakeNoChanges', 'TimeLogsSlow', 'TimeLogsQueue');
    } finally {
      isDone = true;
      await Promise.all(clients);
    }

    await service.end('SIGKILL');
    await fire('TimeLogsInstanceAway', 'TimeLogsAway');
  });
});

interface Answer {
  readonly data: {
    readonly alerts?: readonly { readonly state: string; readonly labels: { readonly alertname: string } }[];
    readonly result?: readonly { readonly value: readonly [number, string] }[];
  };
}

/** The rules with the times of a test, and with limits that a few clients reach. */
function hastened(rules: string): string {
  return rules
    .replaceAll(/for: \w+/g, 'for: 1s')
    .replaceAll(/\[\dm\]/g, '[10s]')
    .replaceAll('offset 5m', 'offset 10s')
    .replaceAll('> 1000', '> 20')
    .replaceAll('> 60', '> 1');
}
