import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../../support/eventually.js';
import { endProcess } from '../../support/service-process.js';
import { unusedPort } from '../../support/unused-port.js';
import { environment } from '../../support/environment.js';

/** The time until a broker that takes no connection counts as failed. */
const START_LIMIT_MS = 90_000;

/** A broker of the tests, on loopback. */
export interface Broker {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts NATS with JetStream, on a port that may be given to start it again, and with further arguments. */
export async function startNats(chosen?: number, args: readonly string[] = []): Promise<Broker> {
  const port = chosen ?? (await unusedPort());
  const streams = await mkdtemp(join(tmpdir(), 'streams-'));
  const all = ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', streams, ...args];
  const child = spawn('nats-server', all, { stdio: 'ignore' });
  await reached(port);
  return {
    url: `nats://127.0.0.1:${port}`,
    stop: async () => {
      await endProcess(child);
      await rm(streams, { recursive: true, force: true });
    },
  };
}

/** A RabbitMQ that does what its operator says. */
export interface Rabbit extends Broker {
  /** Runs `rabbitmqctl`. */
  control(...args: string[]): Promise<unknown>;
}

/** Starts RabbitMQ with files of its own, on a port that may be given to start it again. */
export async function startRabbit(chosen?: number): Promise<Rabbit> {
  const home = await mkdtemp(join(tmpdir(), 'rabbit-'));
  const port = chosen ?? (await unusedPort());
  const [distribution, names] = [await unusedPort(), await unusedPort()];
  const env = environment({
    HOME: home,
    RABBITMQ_NODENAME: `time-logs-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: join(home, 'mnesia'),
    RABBITMQ_LOG_BASE: join(home, 'log'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(home, 'plugins'),
    RABBITMQ_CONFIG_FILE: join(home, 'none'),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_PORT: String(names),
  });
  // The register of names of Erlang, on a port of its own: RabbitMQ would start one that nobody ends.
  const epmd = spawn('epmd', ['-port', String(names), '-address', '127.0.0.1'], { stdio: 'ignore' });
  await reached(names);
  const program = '/usr/lib/rabbitmq/bin/rabbitmq-server';
  const child = spawn(program, [], { stdio: 'ignore', env });
  await reached(port);
  return {
    url: `amqp://guest:guest@127.0.0.1:${port}`,
    control: (...args) => promisify(execFile)('/usr/lib/rabbitmq/bin/rabbitmqctl', args, { env }),
    stop: async () => {
      await endProcess(child);
      await endProcess(epmd);
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Resolves when somebody listens on a port. */
function reached(port: number): Promise<void> {
  return eventually(async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect').finally(() => socket.destroy());
  }, START_LIMIT_MS);
}
