import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ask } from '../faults/support/ask.js';
import { eventually } from '../eventually.js';
import { useService } from '../faults/support/serve.js';
import { useCluster } from '../faults/support/use-cluster.js';
import { connected, queryOnce } from '../../support/postgres-cluster.js';
import { unusedPort } from '../../support/unused-port.js';
import { describeWith } from '../describe-with.js';
import { startWatch, type Watch } from './prometheus.js';

const run = promisify(execFile);
const PROJECT = join(import.meta.dirname, '..', '..', '..');
const RULES = join(PROJECT, 'docker', 'fleet', 'alerts.yaml');
const LOG = JSON.stringify({ projectId: crypto.randomUUID(), duration: 1, date: '2026-01-31' });

const PROGRAMS = ['prometheus', 'promtool', 'prometheus-postgres-exporter', 'prometheus-node-exporter'];

describeWith(...PROGRAMS)('the rules of Prometheus', () => {
  const postgres = useCluster({ max_prepared_transactions: '1', archive_mode: 'on' });
  const service = useService(
    () => postgres.createDatabase(),
    // No broker listens there.
    async () => ({ EVENTS_URL: `nats://127.0.0.1:${await unusedPort()}` }),
  );
  let prometheus: Watch['prometheus'];
  let watch: Watch;

  beforeAll(async () => {
    await postgres.configure({ archive_command: 'true' });
    const dataSourceName = `host=${dirname(postgres.socket)} user=postgres sslmode=disable`;
    watch = await startWatch(
      { databaseUrl: service.databaseUrl, dataSourceName },
      ({ database, disk }) => `global: { scrape_interval: 15s, evaluation_interval: 15s }
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: time-logs
    authorization: { credentials_file: token }
    static_configs: [{ targets: ['127.0.0.1:${service.port}'] }]
  - job_name: time-logs-database
    static_configs: [{ targets: ['${database}'] }]
  - job_name: time-logs-disk
    static_configs: [{ targets: ['${disk}'] }]
`,
    );
    ({ prometheus } = watch);
  });
  afterAll(() => watch.stop());

  const create = () => ask(`${service.url}/api/v1/time-logs`, { body: LOG });
  const list = () => ask(`${service.url}/api/v1/time-logs`);

  it('are right, and fire when and only when they are meant to', async () => {
    await run('promtool', ['check', 'rules', RULES]);
    const tests = join(import.meta.dirname, 'alerts.test.yaml');
    const { stdout } = await run('promtool', ['test', 'rules', tests]);
    expect(stdout).toContain('SUCCESS');
  });

  it('are quiet over a service that is well, and fire over a real one that is not', async () => {
    await eventually(async () => expect(await prometheus.values('up')).toEqual([1, 1, 1]));
    expect(await list()).toMatchObject({ status: 200 });
    // Before its first look at the service Prometheus knew of no instance.
    await prometheus.calm();

    // Its event waits for the broker.
    expect(await create()).toMatchObject({ status: 201 });
    await prometheus.fire('TimeLogsEventLag');

    await queryOnce(service.databaseUrl, 'alter function page_time_logs rename to away');
    expect(await list()).toMatchObject({ status: 500 });
    await prometheus.fire('TimeLogsErrors');
    await queryOnce(service.databaseUrl, 'alter function away rename to page_time_logs');

    await postgres.configure({ synchronous_standby_names: 'nobody' });
    let isDone = false;
    const clients = Array.from({ length: 60 }, async () => {
      while (!isDone) await create();
    });
    try {
      await prometheus.fire('TimeLogsRefused', 'TimeLogsTakeNoChanges', 'TimeLogsSlow', 'TimeLogsQueue');
    } finally {
      isDone = true;
      await Promise.all(clients);
    }

    await postgres.configure({ synchronous_standby_names: null });

    await service.end('SIGKILL');
    await prometheus.fire('TimeLogsInstanceAway', 'TimeLogsAway');
  });

  it.each([
    ['has written', 'begin; create table written ()'],
    ['only reads', 'begin isolation level repeatable read; select 1'],
    ['is prepared', `begin; create table prepared (); prepare transaction 'forgotten'`],
  ])('fire where a transaction that %s is open for long', async (what, begin) => {
    const alert = `${what === 'only reads' ? 'TimeLogsOldSnapshot' : 'TimeLogsFeedHeld'} ${what}`;
    expect(await prometheus.firing()).not.toContain(alert);
    const client = await connected(postgres.url);
    await client.query(begin);
    await prometheus.fire(alert);
    await client.end();
    if (what === 'is prepared') await postgres.query(`rollback prepared 'forgotten'`);
    await eventually(async () => expect(await prometheus.firing()).not.toContain(alert));
  });

  it.each<[string, alert: string, cause: () => Promise<unknown>]>([
    ['a disk is nearly full', 'TimeLogsDisk', () => watch.disk.fill()],
    [
      'a replication slot keeps what nobody fetches',
      'TimeLogsSlot',
      async () => {
        await postgres.query(`select pg_create_physical_replication_slot('nobody', true)`);
        await postgres.query(`select pg_logical_emit_message(false, '', repeat('x', 1048576))`);
      },
    ],
    [
      'the archive takes nothing',
      'TimeLogsArchive',
      async () => {
        await postgres.configure({ archive_command: 'false' });
        await postgres.query('select pg_switch_wal()');
      },
    ],
    [
      'few numbers of transactions are left',
      'TimeLogsWraparound',
      () =>
        postgres.query(
          `create table taken (); do $$ begin for number in 1..100000 loop
             begin insert into taken default values; exception when others then null; end;
           end loop; end $$`,
        ),
    ],
    ['nobody tells of the database any more', 'TimeLogsUnseen', () => postgres.end('SIGINT')],
  ])('fire where %s', async (_what, alert, cause) => {
    expect(await prometheus.firing()).not.toContain(alert);
    await cause();
    await prometheus.fire(alert);
  });
});
