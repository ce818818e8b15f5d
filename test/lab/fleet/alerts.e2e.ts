import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { useFolder } from '../../support/fixtures.js';
import { describeWith } from '../describe-with.js';

const run = promisify(execFile);
const PROJECT = join(import.meta.dirname, '..', '..', '..');
const RULES = join(PROJECT, 'docker', 'fleet', 'alerts.yaml');

/**
 * The values of each series every 15 seconds, and how many alerts of each name fire at which times. Those of Patroni,
 * etcd, balancers and exporters fire in watch.e2e.ts.
 */
const CASES: readonly (readonly [
  what: string,
  series: Readonly<Record<string, string>>,
  firing: Readonly<Record<string, Readonly<Record<string, number>>>>,
])[] = [
  [
    'one of two instances is away',
    {
      'up{job="time-logs",instance="a"}': '1 0x40',
      'up{job="time-logs",instance="b"}': '1x40',
    },
    {
      TimeLogsInstanceAway: { '2m': 0, '3m': 1 },
      TimeLogsAway: { '10m': 0 },
    },
  ],
  [
    'all are away',
    {
      'up{job="time-logs",instance="a"}': '1x4 0x40',
      'up{job="time-logs",instance="b"}': '0x44',
    },
    {
      TimeLogsAway: { '1m': 0, '2m': 1 },
    },
  ],
  [
    'all that write are away, and one that reads is there',
    {
      'up{job="time-logs",instance="a"}': '1x4 0x40',
      'up{job="time-logs",instance="b"}': '1x4 0x40',
      'up{job="time-logs",instance="reader"}': '1x44',
    },
    {
      TimeLogsAway: { '1m': 0, '3m': 1 },
    },
  ],
  [
    'nobody knows of an instance any more',
    {
      'up{job="time-logs",instance="a"}': '1x4 stale',
    },
    {
      TimeLogsAway: { '1m': 0, '3m': 1 },
    },
  ],
  [
    'the first 500 of a process, and then none',
    {
      'http_requests_total{job="time-logs",instance="a",method="GET",route="/r",status="500"}': '_x8 1x60',
    },
    {
      TimeLogsErrors: { '1m': 0, '3m': 1, '12m': 0 },
    },
  ],
  [
    'two of a hundred are refused',
    {
      'http_requests_total{job="time-logs",method="GET",status="200"}': '0+98x60',
      'http_requests_total{job="time-logs",method="GET",status="503"}': '0+2x60',
    },
    {
      TimeLogsRefused: { '10m': 1 },
      TimeLogsTakeNoChanges: { '10m': 0 },
    },
  ],
  [
    'lists go on, and no create is taken',
    {
      'http_requests_total{job="time-logs",method="GET",status="200"}': '0+98x60',
      'http_requests_total{job="time-logs",method="POST",status="201"}': '0+10x20 200x40',
      'http_requests_total{job="time-logs",method="POST",status="503"}': '0x20 0+10x40',
    },
    {
      TimeLogsTakeNoChanges: { '5m': 0, '9m': 1 },
    },
  ],
  [
    'one create in ten takes three seconds',
    {
      'http_request_duration_seconds_bucket{job="time-logs",method="POST",route="/api/v1/time-logs",le="1"}':
        '0+9x60',
      'http_request_duration_seconds_bucket{job="time-logs",method="POST",route="/api/v1/time-logs",le="5"}':
        '0+10x60',
      'http_request_duration_seconds_bucket{job="time-logs",method="POST",route="/api/v1/time-logs",le="+Inf"}':
        '0+10x60',
      'http_request_duration_seconds_bucket{job="time-logs",method="GET",route="/api/v1/time-logs/export",le="1"}':
        '0x60',
      'http_request_duration_seconds_bucket{job="time-logs",method="GET",route="/api/v1/time-logs/export",le="300"}':
        '0+10x60',
      'http_request_duration_seconds_bucket{job="time-logs",method="GET",route="/api/v1/time-logs/export",le="+Inf"}':
        '0+10x60',
    },
    {
      TimeLogsSlow: { '4m': 0, '12m': 1 },
    },
  ],
  [
    'creates and events wait',
    {
      'time_log_write_queue_length{job="time-logs",instance="a"}': '10x8 1500x60',
      'time_log_event_lag_seconds{job="time-logs",instance="a"}': '1x8 0+15x60',
      'time_log_event_relay_stopped{job="time-logs",instance="a"}': '0x8 1x60',
      'time_log_event_relay_stopped{job="time-logs",instance="b"}': '0x68',
    },
    {
      TimeLogsRelayStopped: { '2m': 0, '3m': 1 },
      TimeLogsQueue: { '2m': 0, '3m': 1 },
      TimeLogsEventLag: { '4m': 0, '7m15s': 1 },
    },
  ],
  [
    'a standby has shown all, and then lacks what is new',
    {
      'patroni_replica{job="time-logs-patroni",instance="p1",scope="time-logs"}': '0x60',
      'patroni_replica{job="time-logs-patroni",instance="p2",scope="time-logs"}': '1x60',
      'patroni_xlog_location{job="time-logs-patroni",instance="p1",scope="time-logs"}': '100x20 200x40',
      'patroni_xlog_location{job="time-logs-patroni",instance="p2",scope="time-logs"}': '0x60',
      'patroni_xlog_replayed_location{job="time-logs-patroni",instance="p1",scope="time-logs"}': '0x60',
      'patroni_xlog_replayed_location{job="time-logs-patroni",instance="p2",scope="time-logs"}': '100x60',
      'patroni_xlog_replayed_timestamp{job="time-logs-patroni",instance="p1",scope="time-logs"}': '0x60',
      'patroni_xlog_replayed_timestamp{job="time-logs-patroni",instance="p2",scope="time-logs"}': '0x60',
    },
    {
      TimeLogsStandbyLag: { '5m': 0, '7m': 1 },
    },
  ],
  [
    'the metrics of the database and its disk get worse',
    {
      'node_filesystem_avail_bytes{job="time-logs-disk",instance="n",mountpoint="/disk"}': '11x8 5x60',
      'node_filesystem_size_bytes{job="time-logs-disk",instance="n",mountpoint="/disk"}': '100x68',
      'node_filesystem_readonly{job="time-logs-disk",instance="n",mountpoint="/disk"}': '1x68',
      'pg_watch_slot_kept_bytes{job="time-logs-database",instance="e",slot_name="s"}': '4e9x8 5e9x60',
      'pg_watch_slot_held_transactions{job="time-logs-database",instance="e",slot_name="s"}': '0x68',
      'pg_watch_archive_waiting_seconds{job="time-logs-database",instance="e"}': '300x8 600x60',
      'pg_watch_open_seconds{job="time-logs-database",instance="e",transaction="has written"}':
        '300x8 600x60',
      'pg_watch_open_seconds{job="time-logs-database",instance="e",transaction="is prepared"}': '0x68',
      'pg_watch_open_seconds{job="time-logs-database",instance="e",transaction="only reads"}':
        '3600x8 7200x60',
      'pg_watch_transactions_left{job="time-logs-database",instance="e"}': '15e8x8 1e9x60',
    },
    {
      TimeLogsDisk: { '2m': 0, '16m': 1 },
      TimeLogsSlot: { '2m': 0, '16m': 1 },
      TimeLogsArchive: { '2m': 0, '16m': 1 },
      TimeLogsFeedHeld: { '2m': 0, '16m': 1 },
      TimeLogsOldSnapshot: { '2m': 0, '16m': 1 },
      TimeLogsWraparound: { '2m': 0, '16m': 1 },
      TimeLogsUnseen: { '16m': 0 },
    },
  ],
];

describeWith('promtool')('the rules of Prometheus', () => {
  const inFolder = useFolder('alerts-');

  it('are right, and fire when and only when they are meant to', async () => {
    await run('promtool', ['check', 'rules', RULES]);
    const tests = CASES.map(([name, series, firing]) => ({
      name,
      interval: '15s',
      input_series: Object.entries(series).map(([text, values]) => ({ series: text, values })),
      promql_expr_test: Object.entries(firing).flatMap(([alert, times]) =>
        Object.entries(times).map(([time, value]) => ({
          expr: `count(ALERTS{alertstate="firing", alertname="${alert}"})`,
          eval_time: time,
          exp_samples: value > 0 ? [{ labels: '{}', value }] : [],
        })),
      ),
    }));
    const file = inFolder('tests.yaml');
    await writeFile(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '15s', tests }));
    const { stdout } = await run('promtool', ['test', 'rules', file]);
    expect(stdout).toContain('SUCCESS');
  });
});
