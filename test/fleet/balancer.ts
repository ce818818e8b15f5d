import { join } from 'node:path';
import { Daemon } from './daemon.js';

const SETTINGS = join(import.meta.dirname, '..', '..', 'docker', 'fleet', 'haproxy.cfg');

/** Ports of loopback: where the balancer listens, and where it leads. */
export interface Ports {
  readonly requests: number;
  readonly primary: number;
  readonly standby: number;
  /** Of the four instances, and of the one that reads. */
  readonly instances: readonly number[];
  readonly reader: number;
  /** Of the two servers, each with that of its Patroni. */
  readonly postgres: readonly (readonly [server: number, patroni: number])[];
}

/** Starts the balancer as it ships. */
export function startBalancer({ requests, primary, standby, instances, reader, postgres }: Ports): Daemon {
  const local = (port: number) => `127.0.0.1:${port}`;
  return Daemon.start(['haproxy', '-db', '-f', SETTINGS], {
    BALANCER: local(requests),
    // All balancers of a machine share these names.
    SENT_ONCE: `abns@time-logs-${requests}`,
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
