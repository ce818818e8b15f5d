import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { unusedPort } from '../../support/unused-port.js';
import { describeWith } from '../describe-with.js';
import { PROGRAMS, useFleet } from './fleet.js';
import { startWatch, type Watch } from './prometheus.js';

const SHIPPED = join(import.meta.dirname, '..', '..', '..', 'docker', 'fleet');
const LOG = JSON.stringify({ projectId: crypto.randomUUID(), duration: 1, date: '2026-01-31' });
/** Pages that a checkpoint must write: its share of 5 minutes would take longer than a wait may. */
const PAGES = 4_000;

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { expr: string }[] }[];
}

const EXPORTERS = ['prometheus', 'prometheus-postgres-exporter', 'prometheus-node-exporter'];

describeWith(...PROGRAMS, ...EXPORTERS)('a fleet that Prometheus watches', () => {
  const fleet = useFleet({
    // No broker listens there.
    settings: async () => ({ EVENTS_URL: `nats://127.0.0.1:${await unusedPort()}` }),
  });
  let prometheus: Watch['prometheus'];

  beforeAll(async () => {
    const dataSourceName = fleet.postgres.watchUrl(fleet.ports.primary);
    const watch = await startWatch({ databaseUrl: fleet.databaseUrl, dataSourceName }, settings);
    fleet.stops.push(watch.stop);
    ({ prometheus } = watch);
  });

  /** Those that ship, with the addresses of the test. */
  const settings = async ({ database, disk }: { database: string; disk: string }) => {
    const at = (port: number) => `127.0.0.1:${port}`;
    const { members } = fleet.postgres;
    const addresses: [string, string][] = [
      ...fleet.instances.map(({ port }, index): [string, string] => [
        `time-logs-${index + 1}:3000`,
        at(port),
      ]),
      ['time-logs-reader:3000', at(fleet.reader.port)],
      ['balancer-1:8405', at(fleet.ports.figures)],
      ['balancer-2:8405', `127.0.0.2:${fleet.ports.figures}`],
      ['postgres-1:8008', at(members[0].restPort)],
      ['postgres-2:8008', at(members[1].restPort)],
      ['etcd:2381', at(fleet.postgres.etcdFiguresPort)],
      ['database-exporter:9187', database],
      ['disk-exporter:9100', disk],
      ['/tmp/metrics-token', 'token'],
      ['/certificates', fleet.certificates.of('time-logs')],
    ];
    return addresses.reduce(
      (text, [from, to]) => {
        expect(text).toContain(from);
        return text.replace(from, to);
      },
      await readFile(join(SHIPPED, 'prometheus.yaml'), 'utf8'),
    );
  };
  const create = async () => (await fleet.ask('/api/v1/time-logs', { method: 'POST', body: LOG })).status;
  /** Does something again and again, until something else is done. */
  const during = async (again: () => Promise<unknown>, act: () => Promise<unknown>) => {
    const end = new AbortController();
    const repeated = (async () => {
      while (!end.signal.aborted) await again();
    })();
    try {
      await act();
    } finally {
      end.abort();
      await repeated;
    }
  };

  it('watches every part, and has no alert if all is well', async () => {
    await eventually(async () => expect(await prometheus.values('up')).toEqual(Array(12).fill(1)));
    expect(await fleet.ask('/api/v1/time-logs')).toMatchObject({ status: 200 });
    await prometheus.calm();
  });

  it('has something in each panel of the dashboard, which has every figure of ours', async () => {
    const dashboard = await readFile(join(SHIPPED, 'grafana', 'time-logs.json'), 'utf8');
    const { panels } = JSON.parse(dashboard) as Dashboard;
    const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr]));
    expect(queries.length).toBeGreaterThan(20);
    const isEmpty = async (expression: string) =>
      !(await prometheus.values(expression)).some((value) => Number.isFinite(value));
    const batch = { method: 'POST', body: `{"timeLogs":[${LOG}]}` };
    const traffic = async () => {
      expect([await create(), (await fleet.ask('/nowhere')).status]).toEqual([201, 404]);
      expect(await fleet.ask('/api/v1/time-logs/batch', batch)).toMatchObject({ status: 201 });
      for (const read of ['totals', 'events', 'export'])
        expect(await fleet.ask(`/api/v1/time-logs/${read}`)).toMatchObject({ status: 200 });
    };
    await during(traffic, () =>
      eventually(async () => {
        const empty = [];
        for (const query of queries) if (await isEmpty(query[1]!)) empty.push(query);
        expect(empty).toEqual([]);
      }),
    );
    const ours = await prometheus.names(
      '{job="time-logs", __name__=~"(http|database|time_log|access_token)_.+"}',
    );
    expect(ours.size).toBeGreaterThan(10);
    const shown = JSON.stringify(queries);
    expect([...ours].filter((name) => !shown.includes(name.replace(/_(bucket|sum|count)$/, '')))).toEqual([]);
  });

  it('has an alert where the standby shows nothing new, and where Patroni is paused', async () => {
    const { standby } = await fleet.postgres.whole();
    await standby.withoutReplay(async () => {
      expect(await create()).toBe(201);
      await prometheus.fire('TimeLogsStandbyLag', 'TimeLogsNoFailover');
    });
    await eventually(async () =>
      expect((await prometheus.firing()).join()).not.toMatch(/TimeLogs(StandbyLag|NoFailover)/),
    );
  });

  it('has an alert where no standby is synchronous, and gets a new one before a checkpoint would have ended', async () => {
    const { primary, standby } = await fleet.postgres.whole();
    await standby.killMachine();
    await prometheus.fire('TimeLogsNoStandby', 'TimeLogsUnseen');

    await primary.query(
      `create table pages (page text); alter table pages alter page set storage plain;
         insert into pages select repeat('x', 6000) from generate_series(1, ${PAGES})`,
    );
    await standby.loseDisk();
    const begun = performance.now();
    standby.start();
    await during(create, () => fleet.postgres.whole());
    process.stderr.write(`a new standby: ${((performance.now() - begun) / 1_000).toFixed(1)} s\n`);
    expect(await primary.is('primary')).toBe(true);
    await eventually(async () => expect(await prometheus.firing()).not.toContain('TimeLogsNoStandby'));
  });

  it('has an alert where etcd is away, and nobody leads therefore', async () => {
    await fleet.postgres.endEtcd();
    await prometheus.fire('TimeLogsEtcd', 'TimeLogsNoServer primary', 'TimeLogsNoServer writes');
  });

  it('has an alert where the balancer is away', async () => {
    await fleet.balancers[1]!.end();
    await prometheus.fire('TimeLogsBalancerAway');
  });
});
