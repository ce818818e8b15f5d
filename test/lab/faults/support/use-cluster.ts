import { afterAll, beforeAll } from '@jest/globals';
import { LossyProxy } from '../../../support/lossy-proxy.js';
import { PostgresCluster } from '../../../support/postgres-cluster.js';

/** A server for the tests of a file or a `describe` block: its members are there from the first of them on. */
export function useCluster(...options: Parameters<typeof PostgresCluster.create>): PostgresCluster {
  const cluster = Object.create(PostgresCluster.prototype) as PostgresCluster;
  beforeAll(async () => void Object.assign(cluster, await PostgresCluster.create(...options)));
  afterAll(() => cluster.remove());
  return cluster;
}

/** A proxy before such a server. */
export function useLossyProxy(cluster: PostgresCluster): LossyProxy {
  const proxy = new LossyProxy('');
  beforeAll(async () => {
    proxy.aim(cluster.socket);
    await proxy.listen();
  });
  afterAll(() => proxy.close());
  return proxy;
}

/** Kills the process of a connection of the service, with which the server ends all others. */
export async function killBackend(cluster: PostgresCluster): Promise<void> {
  const [backend] = await cluster.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'time-logs' order by state_change desc limit 1`,
  );
  process.kill(backend!.pid, 'SIGKILL');
}
