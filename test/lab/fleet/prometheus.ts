import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { eventually } from '../eventually.js';
import { unusedPort } from '../../support/unused-port.js';
import { lastLineOf, runCommand } from '../../support/commands.js';
import { Daemon } from './daemon.js';

const FLEET = join(import.meta.dirname, '..', '..', '..', 'docker', 'fleet');

interface Answer {
  readonly data: {
    readonly alerts?: readonly {
      readonly state: string;
      readonly labels: Readonly<Record<string, string>>;
    }[];
    readonly result?: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value: readonly [number, string];
    }[];
  };
}

/** A Prometheus with the rules as they ship, but for their times, and for limits that a test can reach. */
class Prometheus {
  private constructor(
    private readonly daemon: Daemon,
    private readonly url: string,
  ) {}

  /** Starts one with a file of settings that looks every second; its files lie in a folder. */
  static async start(place: string, settings: string): Promise<Prometheus> {
    await writeFile(join(place, 'alerts.yaml'), hastened(await readFile(join(FLEET, 'alerts.yaml'), 'utf8')));
    await writeFile(join(place, 'prometheus.yaml'), settings.replaceAll('_interval: 15s', '_interval: 1s'));
    const port = await unusedPort();
    const daemon = Daemon.start([
      'prometheus',
      `--config.file=${join(place, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(place, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]);
    return new Prometheus(daemon, `http://127.0.0.1:${port}`);
  }

  /** The values of an expression now. */
  async values(expression: string): Promise<number[]> {
    return (await this.results(expression)).map(({ value }) => Number(value[1]));
  }

  /** The names of what an expression selects now. */
  async names(expression: string): Promise<Set<string>> {
    return new Set((await this.results(expression)).map(({ metric }) => metric.__name__!));
  }

  /** The names of the alerts that fire, each with the value of its distinguishing label. */
  async firing(): Promise<string[]> {
    const { data } = await this.ask('alerts');
    return data
      .alerts!.filter(({ state }) => state === 'firing')
      .map(({ labels: { alertname, transaction, proxy } }) =>
        [alertname, transaction ?? proxy].filter(Boolean).join(' '),
      );
  }

  /** Resolves when alerts with these names fire, others or not. */
  fire(...names: string[]): Promise<void> {
    return eventually(async () => expect(await this.firing()).toEqual(expect.arrayContaining(names)));
  }

  /** Resolves when no alert fires. */
  calm(): Promise<void> {
    return eventually(async () => expect(await this.firing()).toEqual([]));
  }

  end(): Promise<void> {
    return this.daemon.end();
  }

  private async results(expression: string): Promise<NonNullable<Answer['data']['result']>> {
    const { data } = await this.ask(`query?query=${encodeURIComponent(expression)}`);
    return data.result!;
  }

  private async ask(path: string): Promise<Answer> {
    return (await (await fetch(`${this.url}/api/v1/${path}`)).json()) as Answer;
  }
}

/** The rules with the times of a test. */
function hastened(rules: string): string {
  return rules
    .replaceAll(/for: \w+/g, 'for: 1s')
    .replaceAll(/\[\dm\]/g, '[10s]')
    .replaceAll('offset 5m', 'offset 10s')
    .replaceAll('> 60', '> 1');
}

/** The targets: a service by its database, and that database by the name in the exporter. */
interface Watched {
  readonly databaseUrl: string;
  readonly dataSourceName: string;
}

/** The targets and alerts of a Prometheus. */
export interface Watch {
  readonly prometheus: Prometheus;
  readonly stop: () => Promise<void>;
}

/** Starts both exporters, and a Prometheus whose settings name their addresses; a token for it lies in `token`. */
export async function startWatch(
  { databaseUrl, dataSourceName }: Watched,
  settings: (addresses: { database: string; disk: string }) => string | Promise<string>,
): Promise<Watch> {
  const place = await mkdtemp(join(tmpdir(), 'watch-'));
  const args = ['create', '--name', 'Prometheus', '--scope', 'metrics:read'];
  const made = await runCommand('token', args, { DATABASE_URL: databaseUrl });
  await writeFile(join(place, 'token'), lastLineOf(made));
  const exporter = await exportPostgres(dataSourceName);
  const disk = await exportDisk(place);
  const addresses = { database: exporter.address, disk: disk.address };
  const prometheus = await Prometheus.start(place, await settings(addresses));
  const stop = async () => {
    await prometheus.end();
    await exporter.daemon.end();
    await disk.daemon.end();
    await rm(place, { recursive: true, force: true });
  };
  return { prometheus, stop };
}

/** Starts postgres_exporter with the figures as they ship. */
async function exportPostgres(dataSourceName: string) {
  const address = `127.0.0.1:${await unusedPort()}`;
  const daemon = Daemon.start(
    [
      'prometheus-postgres-exporter',
      '--disable-default-metrics',
      '--disable-settings-metrics',
      `--extend.query-path=${join(FLEET, 'figures.yaml')}`,
      `--web.listen-address=${address}`,
    ],
    { DATA_SOURCE_NAME: dataSourceName },
  );
  return { daemon, address };
}

/** Starts node_exporter, which watches the disk of /var/tmp. */
async function exportDisk(place: string) {
  const system = join(place, 'proc');
  // The exporter takes from here which disks there are. It leaves out those below /dev and /run.
  await mkdir(join(system, '1'), { recursive: true });
  await writeFile(join(system, '1', 'mounts'), `tmpfs /var/tmp tmpfs rw 0 0\n`);
  const address = `127.0.0.1:${await unusedPort()}`;
  const options = ['--collector.disable-defaults', '--collector.filesystem', `--path.procfs=${system}`];
  const daemon = Daemon.start(['prometheus-node-exporter', ...options, `--web.listen-address=${address}`]);
  return { daemon, address };
}
