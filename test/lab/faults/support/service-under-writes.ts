import { afterEach, expect } from '@jest/globals';
import type { PostgresCluster } from '../../../support/postgres-cluster.js';
import { send, TIME_LOGS } from '../../../support/requests.js';
import { type ServiceProcess, startService } from '../../../support/service-process.js';
import { audit } from './audit.js';
import { Ledger } from './ledger.js';
import { Writers } from './writers.js';

type Environment = Readonly<Record<string, string>>;

/** A token that the deployment declares: it is valid while the database is away. */
export const TOKEN = 'a-token-that-the-deployment-declares';

const running: ServiceProcess[] = [];
afterEach(() => Promise.all(running.splice(0).map((service) => service.end('SIGKILL'))));

/** Starts the service with the declared token; it is killed after the test. */
export async function serve(databaseUrl: string, env: Environment = {}): Promise<ServiceProcess> {
  const service = await startService({ DATABASE_URL: databaseUrl, ACCESS_TOKEN: TOKEN, ...env });
  running.push(service);
  return service;
}

/** How many lines of what a service has printed match. */
export function linesOf({ output }: Pick<ServiceProcess, 'output'>, pattern: RegExp): number {
  return output()
    .split('\n')
    .filter((line) => pattern.test(line)).length;
}

interface UnderWritesOptions {
  /** A server, which gets a database for this; or how the service reaches its database. */
  readonly database: PostgresCluster | string;
  /** How the outside reader reaches it; by default the same. */
  readonly readerUrl?: string;
  readonly areKeyed?: boolean;
  /** False if the database takes no creates at first. */
  readonly isWritable?: boolean;
  readonly writers?: number;
  /** Milliseconds that each writer waits after an acknowledged create. */
  readonly pace?: number;
  /** The number of projects of the logs. */
  readonly projects?: number;
  /** How many logs each create has: more than one are a batch. */
  readonly batch?: number;
  /** Further variables of the service's environment. */
  readonly env?: Environment;
}

/** The compiled service with clients that write to it without a pause. */
export interface ServiceUnderWrites {
  readonly service: ServiceProcess;
  /** How the service reaches its database. */
  readonly url: string;
  readonly writers: Writers;
  readonly ledger: Ledger;
  /** Starts another service after one has ended, and sends the writers there. */
  restart(): Promise<ServiceProcess>;
}

/**
 * Starts a service and its writers, injects a fault, waits until it serves again, and compares the table with the
 * answers to the writers. After any fault no acknowledged log is lost, none exists twice, all answers are 201 or 503,
 * and the total of a list is that of the table.
 */
export async function underWrites(
  {
    database,
    readerUrl,
    isWritable = true,
    writers: size,
    projects,
    batch,
    env,
    ...options
  }: UnderWritesOptions,
  inject: (scene: ServiceUnderWrites) => Promise<void>,
): Promise<void> {
  const url = typeof database === 'string' ? database : await database.createDatabase();
  const ledger = new Ledger(projects, batch);
  const writers = new Writers({ token: TOKEN, ledger, count: size, ...options });
  const start = async () => {
    const service = await serve(url, env);
    writers.aim(service.port);
    return service;
  };
  const scene = {
    service: await start(),
    url,
    writers,
    ledger,
    restart: async () => (scene.service = await start()),
  };
  let total: unknown;
  writers.start();
  try {
    if (isWritable) await writers.acknowledge(50);
    await inject(scene);
    await writers.acknowledge(50);
    await writers.stop();
    const listed = await send({ port: scene.service.port, token: TOKEN }, `${TIME_LOGS}?limit=1`);
    total = (listed.body as { meta?: { total?: unknown } }).meta?.total;
  } finally {
    await writers.stop().finally(() => scene.service.end('SIGKILL'));
  }
  const { stored, ...finding } = await audit(readerUrl ?? url, ledger);
  const { unexpected } = ledger;
  const nothing = { lost: [], doubled: [], parts: [], strange: [], unexpected: [] };
  expect({ ...finding, unexpected, total }).toEqual({ ...nothing, total: stored });
}

/** Waits until a number of further creates have been refused with 503. */
export async function refusedCreates(
  { writers, ledger }: Pick<ServiceUnderWrites, 'writers' | 'ledger'>,
  count: number,
): Promise<void> {
  const enough = ledger.count('refused') + count;
  await writers.until(() => ledger.count('refused') >= enough, `${count} creates refused with 503`);
}

/**
 * Nothing is refused once the fault is over and what was under way then has ended; the service is still the same
 * process.
 */
export async function recovered({ service, writers, ledger }: ServiceUnderWrites): Promise<void> {
  await writers.acknowledge(1);
  await writers.acknowledge(100);
  const refused = ledger.count('refused');
  await writers.acknowledge(200);
  expect([ledger.count('refused'), ledger.count('cut')]).toEqual([refused, 0]);
  expect([service.child.exitCode, service.child.signalCode]).toEqual([null, null]);
}
