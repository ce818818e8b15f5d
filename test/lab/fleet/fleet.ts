import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { eventually } from '../eventually.js';
import { Follower } from '../faults/support/follower.js';
import { memoryOf } from '../faults/support/process-usage.js';
import { TOKEN } from '../faults/support/service-under-writes.js';
import { parsed } from '../../support/raw-http.js';
import { TIME_LOGS } from '../../support/requests.js';
import { unusedPort } from '../../support/unused-port.js';
import { runCommand } from '../../support/commands.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { startBalancer } from './balancer.js';
import { Certificates, fetchOver } from './certificates.js';
import type { Daemon } from './daemon.js';
import { PostgresPair } from './postgres-pair.js';

/** Seconds: longer than the balancer takes to see that an instance is not ready. */
const SHUTDOWN_DELAY = '3';

/** The addresses of the balancers, and the module that gives them one name in the instances. */
const ADDRESSES = ['127.0.0.1', '127.0.0.2'] as const;
const TWO_ADDRESSES = join(import.meta.dirname, 'two-addresses.fixture.mjs');

export { TOKEN };

/** The programs of a fleet. */
export const PROGRAMS = 'haproxy patroni etcd openssl pgbackrest /usr/lib/postgresql/15/bin/postgres'.split(
  ' ',
);

/** An instance of the service on a port of its own. */
export class Instance {
  private process: ServiceProcess | undefined;

  constructor(
    readonly port: number,
    readonly settings: { DATABASE_URL: string; ACCESS_TOKEN: string; EVENTS_URL?: string },
  ) {}

  async start(): Promise<void> {
    const env = { PORT: String(this.port), SHUTDOWN_DELAY, NODE_OPTIONS: `--import=${TWO_ADDRESSES}` };
    this.process = await startService({ ...this.settings, ...env });
  }

  get output(): string {
    return this.process?.output() ?? '';
  }

  /** Megabytes that it has resident at this moment. */
  memory(): Promise<number> {
    return memoryOf(this.process!.child.pid!);
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.process?.end(signal);
  }

  async replace(): Promise<void> {
    await this.end();
    await this.start();
  }
}

/** A request of a caller with a token. */
interface Question extends Omit<RequestInit, 'headers'> {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Four instances on the primary and one on the standby, behind two balancers as they ship. */
export class Fleet {
  /** Resources to close before it, the last one first. */
  readonly stops: (() => Promise<unknown>)[] = [];

  private constructor(
    private readonly place: string,
    readonly certificates: Certificates,
    readonly postgres: PostgresPair,
    readonly balancers: readonly Daemon[],
    /** The ports of each balancer: its own, that of its metrics, those of the primary and of the standby. */
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
    const unused = await Promise.all(Array.from({ length: 9 }, unusedPort));
    const [requests, figures, primary, standby, reader, ...instances] = unused as [
      number,
      number,
      number,
      number,
      number,
    ];
    const ports = { requests, figures, primary, standby };
    const balancers = ADDRESSES.map((address, index) =>
      startBalancer({
        address,
        certificates: certificates.of(`balancer-${index + 1}`),
        ...ports,
        instances,
        reader,
        postgres: postgres.members.map((member) => [member.port, member.restPort] as const),
      }),
    );
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
      balancers,
      ports,
      instances.map((port) => instance(port, ports.primary)),
      instance(reader, ports.standby),
      (await certificates.identity()).ca,
    );
    await eventually(async () => expect((await fleet.fetch('/livez')).status).toBe(503));
    return fleet;
  }

  /** All instances; the one that reads is the last. */
  get all(): readonly Instance[] {
    return [...this.instances, this.reader];
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

  /** The URL of each balancer for clients. */
  get urls(): string[] {
    return ADDRESSES.map((address) => `https://${address}:${this.ports.requests}`);
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

  /** Asks there as a caller with a token; `body` is undefined where it is no JSON. */
  async ask(
    path: string,
    { token = TOKEN, headers, ...init }: Question = {},
  ): Promise<{ status: number; body: unknown }> {
    const own = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await this.fetch(path, { ...init, headers: { ...own, ...headers } });
    return { status: answer.status, body: parsed(await answer.text()) };
  }

  /** Creates a log of a project. */
  async create(projectId: string, more: Question = {}): Promise<void> {
    // The audit tells logs apart by their descriptions.
    const body = JSON.stringify({ projectId, duration: 1, description: projectId, date: '2026-01-31' });
    const answer = await this.ask(TIME_LOGS, { method: 'POST', body, ...more });
    expect(answer).toMatchObject({ status: 201, body: { success: true } });
  }

  /** Returns the number of logs of a project, from a list. */
  async totalOf(projectId: string, more: Question = {}): Promise<number> {
    const { body } = await this.ask(`${TIME_LOGS}?projectId=${projectId}`, more);
    return (body as { meta: { total: number } }).meta.total;
  }

  /** A consumer of the feed that asks at the first balancer. */
  follow(): Follower {
    const follower = new Follower((path) => this.ask(path));
    this.stops.push(() => follower.stop());
    return follower;
  }

  async stop(): Promise<void> {
    for (const stop of this.stops.splice(0).reverse()) await stop();
    for (const instance of this.all) await instance.end('SIGKILL');
    for (const balancer of this.balancers) await balancer.end();
    await this.postgres.stop();
    await rm(this.place, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A fleet for the tests of a file, with all instances unless it is prepared otherwise. */
export function useFleet({
  settings = async () => ({}),
  prepare = (fleet) => fleet.startInstances(),
}: {
  settings?: () => Promise<{ EVENTS_URL?: string }>;
  prepare?: (fleet: Fleet) => Promise<unknown>;
} = {}): Fleet {
  const fleet = Object.create(Fleet.prototype) as Fleet;
  beforeAll(async () => {
    Object.assign(fleet, await Fleet.start(await settings()));
    await prepare(fleet);
  });
  afterAll(() => fleet.stop());
  return fleet;
}
