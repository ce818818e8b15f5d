import { join } from 'node:path';
import { Daemon } from './daemon.js';

const SETTINGS = join(import.meta.dirname, '..', '..', '..', 'docker', 'fleet', 'haproxy.cfg');

/** The ports of the balancer and its servers, all on loopback. */
export interface Ports {
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
  return Daemon.start(['haproxy', '-W', '-db', '-f', SETTINGS], {
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
