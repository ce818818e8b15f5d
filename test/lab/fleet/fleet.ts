import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { Follower } from '../faults/support/follower.js';
import { TOKEN } from '../faults/support/service-under-writes.js';
import { parsed } from '../../support/raw-http.js';
import { unusedPort } from '../../support/unused-port.js';
import { runCommand } from '../../support/commands.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { Certificates, fetchOver } from './certificates.js';
import { Daemon } from './daemon.js';
import { PostgresPair } from './postgres-pair.js';

const BALANCER = join(import.meta.dirname, '..', '..', '..', 'docker', 'fleet', 'haproxy.cfg');
/** Seconds: longer than the balancer takes to see that an instance is not ready. */
const SHUTDOWN_DELAY = '3';
/** Instances on the primary. */
const INSTANCES = 4;

/** The programs of a fleet. */
export const PROGRAMS = 'haproxy patroni etcd openssl pgbackrest /usr/lib/postgresql/15/bin/postgres'.split(
  ' ',
);

/** The ports of the balancer and its servers, all on loopback. */
interface Ports {
  /** The folder with its certificate, and the CA. */
  readonly certificates: string;
  readonly requests: number;
  /** The port for Prometheus. */
  readonly figures: number;
  readonly primary: number;
  readonly standby: number;
  /** The ports of the four instances, and of the one that reads. */
  readonly instances: readonly number[];
  readonly reader: number;
  /** The ports of the two servers, each with that of its Patroni. */
  readonly postgres: readonly (readonly [server: number, patroni: number])[];
}

/** Starts the balancer as it ships. */
export function startBalancer(ports: Ports): Daemon {
  const { certificates, requests, figures, primary, standby, instances, reader, postgres } = ports;
  const local = (port: number) => `127.0.0.1:${port}`;
  return Daemon.start(['haproxy', '-W', '-db', '-f', BALANCER], {
    CERTIFICATES: certificates,
    BALANCER: local(requests),
    FIGURES: local(figures),
    // All balancers of a machine share these names.
    SENT_ONCE: `abns@time-logs-${local(requests)}`,
    PRIMARY: local(primary),
    STANDBY: local(standby),
    TIME_LOGS_READER: local(reader),
    ...Object.fromEntries(instances.map((port, index) => [`TIME_LOGS_${index + 1}`, local(port)])),
    ...Object.fromEntries(
      postgres.flatMap(([server, patroni], index) => [
        [`POSTGRES_${index + 1}`, local(server)],
        [`PATRONI_${index + 1}`, String(patroni)],
      ]),
    ),
  });
}

/** An instance of the service on a port of its own. */
export class Instance {
  private process: ServiceProcess | undefined;

  constructor(
    readonly port: number,
    private readonly databaseUrl: string,
  ) {}

  async start(): Promise<void> {
    this.process = await startService({
      DATABASE_URL: this.databaseUrl,
      ACCESS_TOKEN: TOKEN,
      PORT: String(this.port),
      SHUTDOWN_DELAY,
    });
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.process?.end(signal);
  }

  async replace(): Promise<void> {
    await this.end();
    await this.start();
  }
}

/** Four instances on the primary and one on the standby, behind the balancer as it ships. */
export class Fleet {
  /** Resources to close before it, the last one first. */
  readonly stops: (() => Promise<unknown>)[] = [];

  private constructor(
    private readonly place: string,
    readonly postgres: PostgresPair,
    private readonly balancer: Daemon,
    /** The port of the balancer for clients, and the CA that they trust, in PEM. */
    readonly port: number,
    readonly ca: string,
    /** The database on the primary, wherever that is. */
    readonly databaseUrl: string,
    readonly instances: readonly Instance[],
    readonly reader: Instance,
  ) {}

  /** Starts all but the instances. */
  static async start(): Promise<Fleet> {
    const place = await mkdtemp(join(tmpdir(), 'fleet-'));
    await chmod(place, 0o711);
    const certificates = await Certificates.make(join(place, 'certificates'));
    const postgres = await PostgresPair.start(place, certificates);
    const [port, primary, standby] = [await unusedPort(), await unusedPort(), await unusedPort()];
    const [writing, reading] = [postgres.url(primary), postgres.url(standby)];
    const ports = await Promise.all(Array.from({ length: INSTANCES }, unusedPort));
    const reader = new Instance(await unusedPort(), reading);
    const balancer = startBalancer({
      certificates: certificates.of('balancer-1'),
      requests: port,
      figures: await unusedPort(),
      primary,
      standby,
      instances: ports,
      reader: reader.port,
      postgres: postgres.members.map((member) => [member.port, member.restPort] as const),
    });
    const instances = ports.map((one) => new Instance(one, writing));
    const { ca } = await certificates.identity();
    const fleet = new Fleet(place, postgres, balancer, port, ca, writing, instances, reader);
    await eventually(async () => expect((await fleet.ask('/livez')).status).toBe(503));
    return fleet;
  }

  /** Starts the instances; the first migrates. The reader follows when the standby has the tables. */
  async startInstances(): Promise<void> {
    const [first, ...others] = this.instances;
    await first!.start();
    await Promise.all(others.map((instance) => instance.start()));
    await eventually(() => this.reader.start());
  }

  /** Fails if a count or a sum is not that of the logs. */
  async verifyCounts(): Promise<void> {
    const verified = await runCommand('counts', ['verify'], { DATABASE_URL: this.databaseUrl });
    expect(verified).toMatchObject({ code: 0 });
  }

  /** Asks at the balancer as a caller with the declared token; `body` is undefined where it is no JSON. */
  async ask(path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${TOKEN}`);
    headers.set('content-type', 'application/json');
    const send = fetchOver({ ca: this.ca });
    const answer = await send(`https://127.0.0.1:${this.port}${path}`, { ...init, headers });
    return { status: answer.status, body: parsed(await answer.text()) };
  }

  /** A consumer of the feed that asks at the balancer. */
  follow(): Follower {
    const follower = new Follower((path) => this.ask(path));
    this.stops.push(() => follower.stop());
    return follower;
  }

  async stop(): Promise<void> {
    for (const stop of this.stops.splice(0).reverse()) await stop();
    for (const instance of [...this.instances, this.reader]) await instance.end('SIGKILL');
    await this.balancer.end();
    await this.postgres.stop();
    await rm(this.place, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A fleet for the tests of a file, with all instances unless it is prepared otherwise. */
export function useFleet(prepare = (fleet: Fleet): Promise<unknown> => fleet.startInstances()): Fleet {
  const fleet = Object.create(Fleet.prototype) as Fleet;
  beforeAll(async () => {
    Object.assign(fleet, await Fleet.start());
    await prepare(fleet);
  });
  afterAll(() => fleet.stop());
  return fleet;
}
