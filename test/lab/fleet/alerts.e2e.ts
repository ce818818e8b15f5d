import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ask } from '../faults/support/ask.js';
import { eventually } from '../eventually.js';
import { connected, PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { TOKEN } from '../faults/support/service-under-writes.js';
import { unusedPort } from '../../support/unused-port.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { describeWith } from '../describe-with.js';
import { type Exporter, exportPostgres, Prometheus, SmallDisk, tokenOfPrometheus } from './prometheus.js';

const run = promisify(execFile);
const PROJECT = join(import.meta.dirname, '..', '..', '..');
const RULES = join(PROJECT, 'docker', 'fleet', 'alerts.yaml');
const LOG = JSON.stringify({ projectId: crypto.randomUUID(), duration: 1, date: '2026-01-31' });

const PROGRAMS = ['prometheus', 'promtool', 'prometheus-postgres-exporter', 'prometheus-node-exporter'];

describeWith(...PROGRAMS)('the rules of Prometheus', () => {
  let place: string;
  let postgres: PostgresCluster;
  let databaseUrl: string;
  let service: ServiceProcess;
  let prometheus: Prometheus;
  let disk: SmallDisk;
  let exporter: Exporter;

  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'alerts-'));
    postgres = await PostgresCluster.create({ max_prepared_transactions: '1', archive_mode: 'on' });
    await postgres.configure({ archive_command: 'true' });
    databaseUrl = await postgres.createDatabase();
    // No broker listens there.
    const env = { ACCESS_TOKEN: TOKEN, EVENTS_URL: `nats://127.0.0.1:${await unusedPort()}` };
    service = await startService({ DATABASE_URL: databaseUrl, ...env });
    await writeFile(join(place, 'token'), await tokenOfPrometheus(databaseUrl));
    exporter = await exportPostgres(`host=${dirname(postgres.socket)} user=postgres sslmode=disable`);
    disk = await SmallDisk.start(place);
    prometheus = await Prometheus.start(
      place,
      `global: { scrape_interval: 15s, evaluation_interval: 15s }
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: time-logs
    authorization: { credentials_file: token }
    static_configs: [{ targets: ['127.0.0.1:${service.port}'] }]
  - job_name: time-logs-database
    static_configs: [{ targets: ['${exporter.address}'] }]
  - job_name: time-logs-disk
    static_configs: [{ targets: ['${disk.address}'] }]
`,
    );
  });
  afterAll(async () => {
    await prometheus.end();
    await exporter.daemon.end();
    await disk.daemon.end();
    await service.end('SIGKILL');
    await postgres.remove();
    await rm(place, { recursive: true, force: true });
  });

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
    await eventually(async () => expect(await prometheus.values('up')).toEqual([1, 1, 1]));
    expect(await list()).toMatchObject({ status: 200 });
    // Before its first look at the service Prometheus knew of no instance.
    await prometheus.calm();

    // Its event waits for the broker.
    expect(await create()).toMatchObject({ status: 201 });
    await prometheus.fire('TimeLogsEventLag');

    await queryOnce(databaseUrl, 'alter function time_log_page_v2 rename to away');
    expect(await list()).toMatchObject({ status: 500 });
    await prometheus.fire('TimeLogsErrors');
    await queryOnce(databaseUrl, 'alter function away rename to time_log_page_v2');

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

  it('fire where a disk is nearly full', async () => {
    expect(await prometheus.firing()).not.toContain('TimeLogsDisk');
    await disk.fill();
    await prometheus.fire('TimeLogsDisk');
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

  it('fire where a replication slot keeps what nobody fetches', async () => {
    expect(await prometheus.firing()).not.toContain('TimeLogsSlot');
    await postgres.query(`select pg_create_physical_replication_slot('nobody', true)`);
    await postgres.query('select pg_logical_emit_message(false, $1, $2)', ['', 'x'.repeat(2 ** 20)]);
    await prometheus.fire('TimeLogsSlot');
  });

  it('fire where the archive takes nothing', async () => {
    expect(await prometheus.firing()).not.toContain('TimeLogsArchive');
    await postgres.configure({ archive_command: 'false' });
    await postgres.query('select pg_switch_wal()');
    await prometheus.fire('TimeLogsArchive');
  });

  it('fire where few numbers of transactions are left', async () => {
    expect(await prometheus.firing()).not.toContain('TimeLogsWraparound');
    await postgres.query(
      `create table taken (); do $$ begin for number in 1..100000 loop
         begin insert into taken default values; exception when others then null; end;
       end loop; end $$`,
    );
    await prometheus.fire('TimeLogsWraparound');
  });

  it('fire where nobody tells of the database any more', async () => {
    expect(await prometheus.firing()).not.toContain('TimeLogsUnseen');
    await postgres.end('SIGINT');
    await prometheus.fire('TimeLogsUnseen');
  });
});
