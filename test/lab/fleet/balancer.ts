import { join } from 'node:path';
import { Daemon } from './daemon.js';

const SETTINGS = join(import.meta.dirname, '..', '..', '..', 'docker', 'fleet', 'haproxy.cfg');

/** The address of the balancer, on loopback, and the ports of the balancer and its servers. */
export interface Ports {
  readonly address: string;
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

/** Starts the balancer as it ships, with a master like that of its image: it reads all files again at SIGUSR2. */
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
