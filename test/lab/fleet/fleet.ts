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
import {
  endProcess,
  type Printing,
  type ServiceProcess,
  startService,
} from '../../support/service-process.js';
import { fetchOver, identityOf, makeCertificates } from './certificates.js';
import { startDaemon } from './daemon.js';
import { startPostgresPair } from './postgres-pair.js';

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
  /** Those of the four instances, and of the one that reads. */
  readonly instances: readonly number[];
  readonly reader: number;
  /** Those that lead to the primary and to the standby. */
  readonly databases: readonly [primary: number, standby: number];
  /** Those of the two servers, each with that of its Patroni. */
  readonly postgres: readonly { readonly port: number; readonly restPort: number }[];
}

/** Starts the balancer as it ships. */
export async function startBalancer(ports: Ports): Promise<Printing> {
  const { certificates, requests, databases, instances, reader, postgres } = ports;
  const local = (port: number) => `127.0.0.1:${port}`;
  const [primary, standby] = databases.map(local) as [string, string];
  const numbered = (name: string, values: readonly string[]) =>
    Object.fromEntries(values.map((value, index) => [`${name}_${index + 1}`, value]));
  return startDaemon(['haproxy', '-W', '-db', '-f', BALANCER], {
    CERTIFICATES: certificates,
    BALANCER: local(requests),
    // The port for Prometheus.
    FIGURES: local(await unusedPort()),
    // All balancers of a machine share these names.
    SENT_ONCE: `abns@time-logs-${local(requests)}`,
    PRIMARY: primary,
    STANDBY: standby,
    TIME_LOGS_READER: local(reader),
    ...numbered('TIME_LOGS', instances.map(local)),
    ...numbered(
      'POSTGRES',
      postgres.map(({ port }) => local(port)),
    ),
    ...numbered(
      'PATRONI',
      postgres.map(({ restPort }) => String(restPort)),
    ),
  });
}

/** An instance of the service on a port of its own. */
class Instance {
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

export type Fleet = Awaited<ReturnType<typeof startFleet>>;

/** Starts a fleet without its instances, behind the balancer as it ships: four on the primary, one on the standby. */
async function startFleet() {
  /** Resources to close before it, the last one first. */
  const stops: (() => Promise<unknown>)[] = [];
  const place = await mkdtemp(join(tmpdir(), 'fleet-'));
  await chmod(place, 0o711);
  const certificates = await makeCertificates(join(place, 'certificates'));
  const postgres = await startPostgresPair(place, certificates);
  const [port, primary, standby] = [await unusedPort(), await unusedPort(), await unusedPort()];
  /** The database on the primary, wherever that is. */
  const databaseUrl = postgres.url(primary);
  const ports = await Promise.all(Array.from({ length: INSTANCES }, unusedPort));
  const instances = ports.map((one) => new Instance(one, databaseUrl));
  const reader = new Instance(await unusedPort(), postgres.url(standby));
  const balancer = await startBalancer({
    certificates: join(certificates, 'balancer-1'),
    requests: port,
    databases: [primary, standby],
    instances: ports,
    reader: reader.port,
    postgres: postgres.members,
  });
  /** The CA that clients trust, in PEM. */
  const { ca } = await identityOf(certificates);
  const send = fetchOver({ ca });
  /** Asks at the balancer as a caller with the declared token; `body` is undefined where it is no JSON. */
  const ask = async (path: string) => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answer = await send(`https://127.0.0.1:${port}${path}`, { headers });
    return { status: answer.status, body: parsed(await answer.text()) };
  };
  await eventually(async () => expect((await ask('/livez')).status).toBe(503));
  return {
    stops,
    postgres,
    /** The port of the balancer for clients. */
    port,
    ca,
    databaseUrl,
    instances,
    reader,
    /** Starts the instances; the first migrates. The reader follows when the standby has the tables. */
    startInstances: async () => {
      const [first, ...others] = instances;
      await first!.start();
      await Promise.all(others.map((instance) => instance.start()));
      await eventually(() => reader.start());
    },
    /** Fails if a count or a sum is not that of the logs. */
    verifyCounts: async () => {
      const verified = await runCommand('counts', ['verify'], { DATABASE_URL: databaseUrl });
      expect(verified).toMatchObject({ code: 0 });
    },
    /** A consumer of the feed that asks at the balancer. */
    follow: () => {
      const follower = new Follower(ask);
      stops.push(() => follower.stop());
      return follower;
    },
    stop: async () => {
      for (const stop of stops.splice(0).reverse()) await stop();
      for (const instance of [...instances, reader]) await instance.end('SIGKILL');
      await endProcess(balancer.child);
      await postgres.stop();
      await rm(place, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A fleet for the tests of a file, with all instances unless it is prepared otherwise. */
export function useFleet(prepare = (fleet: Fleet): Promise<unknown> => fleet.startInstances()): Fleet {
  const fleet = {} as Fleet;
  beforeAll(async () => {
    Object.assign(fleet, await startFleet());
    await prepare(fleet);
  });
  afterAll(() => fleet.stop());
  return fleet;
}
