import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { eventually } from '../eventually.js';
import { Follower } from '../faults/support/follower.js';
import { memoryOf } from '../faults/support/process-usage.js';
import { unusedPort } from '../../support/unused-port.js';
import { runCommand } from '../../support/commands.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { startBalancer } from './balancer.js';
import { Certificates, fetchOver } from './certificates.js';
import type { Daemon } from './daemon.js';
import { PostgresPair } from './postgres-pair.js';

/** Seconds: longer than the balancer takes to see that an instance is not ready. */
const SHUTDOWN_DELAY = '3';

/** Where the balancers listen, and what gives them one name in the instances. */
const ADDRESSES = ['127.0.0.1', '127.0.0.2'] as const;
const TWO_ADDRESSES = join(import.meta.dirname, 'two-addresses.fixture.mjs');

/** What a fleet is made of. */
export const PROGRAMS = [
  'haproxy',
  'patroni',
  'etcd',
  'openssl',
  'pgbackrest',
  '/usr/lib/postgresql/15/bin/postgres',
];

/** A token that the deployment declares. */
export const TOKEN = 'a-token-that-the-deployment-declares';

/** An instance of the service on a port of its own. */
export class Instance {
  private process: ServiceProcess | undefined;

  constructor(
    readonly port: number,
    readonly settings: { DATABASE_URL: string; ACCESS_TOKEN: string; EVENTS_URL?: string },
  ) {}

  /** Starts this version, or the one that is built in a folder. */
  async start(folder?: string): Promise<void> {
    const main = folder && join(folder, 'dist', 'src', 'main.js');
    this.process = await startService(
      {
        ...this.settings,
        PORT: String(this.port),
        SHUTDOWN_DELAY,
        NODE_OPTIONS: `--import=${TWO_ADDRESSES}`,
      },
      main ? ['sh', '-c', `exec "$0" '${main}'`] : [],
    );
  }

  get output(): string {
    return this.process?.output() ?? '';
  }

  get pid(): number {
    return this.process!.child.pid!;
  }

  /** Megabytes that it has resident at this moment. */
  memory(): Promise<number> {
    return memoryOf(this.pid);
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.process?.end(signal);
  }
}

/** Four instances on the primary and one on the standby, behind two balancers as they ship. */
export class Fleet {
  private constructor(
    private readonly place: string,
    readonly certificates: Certificates,
    readonly postgres: PostgresPair,
    readonly balancers: Daemon[],
    private readonly openBalancer: (index: number) => Daemon,
    /** Where each balancer listens, tells its figures, and leads to the primary and to the standby. */
    readonly ports: Readonly<Record<'requests' | 'figures' | 'primary' | 'standby', number>>,
    readonly instances: readonly Instance[],
    readonly reader: Instance,
    /** The CA, in PEM. */
    readonly ca: string,
  ) {}

  /** Starts all but the instances, which will have these further settings. */
  static async start(settings: { EVENTS_URL?: string } = {}): Promise<Fleet> {
    const place = await mkdtemp(join(tmpdir(), 'fleet-'));
    await chmod(place, 0o711);
    const certificates = await Certificates.make(join(place, 'certificates'));
    const postgres = await PostgresPair.start(place, certificates);
    const ports = {
      requests: await unusedPort(),
      figures: await unusedPort(),
      primary: await unusedPort(),
      standby: await unusedPort(),
    };
    const [reader = 0, ...instances] = await Promise.all(Array.from({ length: 5 }, unusedPort));
    const openBalancer = (index: number) =>
      startBalancer({
        address: ADDRESSES[index]!,
        certificates: certificates.of(`balancer-${index + 1}`),
        ...ports,
        instances,
        reader,
        postgres: postgres.members.map((member) => [member.port, member.restPort] as const),
      });
    const instance = (port: number, database: number) =>
      new Instance(port, {
        DATABASE_URL: postgres.url(database, { host: 'balancer' }),
        ACCESS_TOKEN: TOKEN,
        ...settings,
      });
    const fleet = new Fleet(
      place,
      certificates,
      postgres,
      ADDRESSES.map((_address, index) => openBalancer(index)),
      openBalancer,
      ports,
      instances.map((port) => instance(port, ports.primary)),
      instance(reader, ports.standby),
      (await certificates.identity()).ca,
    );
    await eventually(async () => expect((await fleet.fetch('/livez')).status).toBe(503));
    return fleet;
  }

  /** Starts the instances; the first migrates. The reader follows when the standby has the tables. */
  async startInstances(): Promise<void> {
    const [first, ...others] = this.instances;
    await first!.start();
    await Promise.all(others.map((instance) => instance.start()));
    await eventually(() => this.reader.start());
  }

  /** The database on the primary, wherever that is. */
  get databaseUrl(): string {
    return this.postgres.url(this.ports.primary);
  }

  /** Where clients find each balancer. */
  get urls(): string[] {
    return ADDRESSES.map((address) => `https://${address}:${this.ports.requests}`);
  }

  /** Kills a balancer and starts it again; resolves when it leads to an instance. */
  async killBalancer(index: number): Promise<void> {
    await this.balancers[index]!.killWithChildren();
    this.balancers[index] = this.openBalancer(index);
    const ask = fetchOver({ ca: this.ca });
    await eventually(async () => expect((await ask(`${this.urls[index]}/livez`)).status).toBe(200));
  }

  /** Fails if a count or a sum is not that of the logs. */
  async verifyCounts(): Promise<void> {
    const verified = await runCommand('counts', ['verify'], { DATABASE_URL: this.databaseUrl });
    expect(verified).toMatchObject({ code: 0 });
  }

  /** Asks at the first balancer. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetchOver({ ca: this.ca })(`${this.urls[0]}${path}`, init);
  }

  /** A consumer of the feed that asks at the first balancer. */
  follow(): Follower {
    return new Follower(async (path) => {
      const answer = await this.fetch(path, { headers: { authorization: `Bearer ${TOKEN}` } });
      return { status: answer.status, body: await answer.json() };
    });
  }

  async stop(): Promise<void> {
    for (const instance of [...this.instances, this.reader]) await instance.end('SIGKILL');
    for (const balancer of this.balancers) await balancer.end();
    await this.postgres.stop();
    await rm(this.place, { recursive: true, force: true, maxRetries: 5 });
  }
}
