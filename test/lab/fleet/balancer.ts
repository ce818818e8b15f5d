import { join } from 'node:path';
import { Daemon } from './daemon.js';

const SETTINGS = join(import.meta.dirname, '..', '..', '..', 'docker', 'fleet', 'haproxy.cfg');

/** Where the balancer listens, on an address of loopback, and where it leads. */
export interface Ports {
  readonly address: string;
  /** The folder with its certificate, and the CA. */
  readonly certificates: string;
  readonly requests: number;
  /** What Prometheus asks. */
  readonly figures: number;
  readonly primary: number;
  readonly standby: number;
  /** Of the four instances, and of the one that reads. */
  readonly instances: readonly number[];
  readonly reader: number;
  /** Of the two servers, each with that of its Patroni. */
  readonly postgres: readonly (readonly [server: number, patroni: number])[];
}

/** Starts the balancer as it ships, with a master as its image has one: it reads everything anew at SIGUSR2. */
export function startBalancer({ address, certificates, ...ports }: Ports): Daemon {
  const { requests, figures, primary, standby, instances, reader, postgres } = ports;
  const here = (port: number) => `${address}:${port}`;
  const local = (port: number) => `127.0.0.1:${port}`;
  return Daemon.start(['haproxy', '-W', '-db', '-f', SETTINGS], {
    CERTIFICATES: certificates,
    BALANCER: here(requests),
    FIGURES: here(figures),
    // All balancers of a machine share these names.
    SENT_ONCE: `abns@time-logs-${here(requests)}`,
    PRIMARY: here(primary),
    STANDBY: here(standby),
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
