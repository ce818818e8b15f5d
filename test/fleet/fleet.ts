import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { eventually } from '../faults/support/eventually.js';
import { unusedPort } from '../messages/brokers.js';
import { type ServiceProcess, startService } from '../support/service-process.js';
import { startBalancer } from './balancer.js';
import type { Daemon } from './daemon.js';
import { PostgresPair } from './postgres-pair.js';

/** Seconds: longer than the balancer takes to see that an instance is not ready. */
const SHUTDOWN_DELAY = '3';

/** A token that the deployment declares. */
export const TOKEN = 'a-token-that-the-deployment-declares';

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

  get output(): string {
    return this.process?.output() ?? '';
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.process?.end(signal);
  }
}

/** Four instances on the primary and one on the standby, behind the balancer as it ships. */
export class Fleet {
  private constructor(
    private readonly place: string,
    readonly postgres: PostgresPair,
    private readonly balancer: Daemon,
    /** Where the balancer listens. */
    readonly port: number,
    /** Where the balancer leads to the primary. */
    private readonly primaryPort: number,
    readonly instances: readonly Instance[],
    readonly reader: Instance,
  ) {}

  static async start(): Promise<Fleet> {
    const place = await mkdtemp(join(tmpdir(), 'fleet-'));
    await chmod(place, 0o711);
    const postgres = await PostgresPair.start(place);
    const [port, primary, standby] = [await unusedPort(), await unusedPort(), await unusedPort()];
    const ports = await Promise.all(Array.from({ length: 5 }, unusedPort));
    const [instances, reader] = [ports.slice(0, 4), ports[4]!];
    const balancer = startBalancer({
      requests: port,
      primary,
      standby,
      instances,
      reader,
      postgres: postgres.members.map((member) => [member.port, member.restPort] as const),
    });
    const fleet = new Fleet(
      place,
      postgres,
      balancer,
      port,
      primary,
      instances.map((at) => new Instance(at, postgres.url(primary))),
      new Instance(reader, postgres.url(standby)),
    );
    await eventually(() => expect(balancer.output + String(balancer.isRunning)).toContain('true'));
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
    return this.postgres.url(this.primaryPort);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** What the balancer has said. */
  get balancerOutput(): string {
    return this.balancer.output;
  }

  async stop(): Promise<void> {
    for (const instance of [...this.instances, this.reader]) await instance.end('SIGKILL');
    await this.balancer.end();
    await this.postgres.stop();
    await rm(this.place, { recursive: true, force: true, maxRetries: 5 });
  }
}
