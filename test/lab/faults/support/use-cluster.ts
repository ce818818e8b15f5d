import { afterAll, beforeAll } from '@jest/globals';
import { PostgresCluster } from '../../../support/postgres-cluster.js';

/** A server for the tests of a file or a `describe` block: its members are there from the first of them on. */
export function useCluster(...options: Parameters<typeof PostgresCluster.create>): PostgresCluster {
  const cluster = Object.create(PostgresCluster.prototype) as PostgresCluster;
  beforeAll(async () => void Object.assign(cluster, await PostgresCluster.create(...options)));
  afterAll(() => cluster.remove());
  return cluster;
}
