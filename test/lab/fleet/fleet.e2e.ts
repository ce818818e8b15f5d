import { beforeAll, expect, it } from '@jest/globals';
import { audit } from '../faults/support/audit.js';
import type { Follower } from '../faults/support/follower.js';
import { eventually } from '../../support/eventually.js';
import { isAll } from '../../support/extent.js';
import { firstColumn, queryOnce } from '../../support/postgres-cluster.js';
import { fetchOver } from './certificates.js';
import { Clients, UNNOTICED } from './clients.js';
import { describeWith } from '../describe-with.js';
import { PROGRAMS, useFleet } from './fleet.js';

const KILLS = isAll ? 52 : 4;
const ROLLS = isAll ? 4 : 1;
const FAILOVERS = isAll ? 5 : 1;

describeWith(...PROGRAMS)('four instances behind the balancer, with a synchronous standby', () => {
  const fleet = useFleet();
  let clients: Clients;
  let follower: Follower;

  beforeAll(() => {
    clients = new Clients(fleet);
    follower = fleet.follow();
  });

  /** Injects a fault and prints its effect. */
  const through = async (what: string, act: () => Promise<void>) => {
    const effect = await clients.through(act);
    process.stderr.write(`${what}: ${JSON.stringify(effect)}\n`);
    expect(effect).toMatchObject({ withKeys: { closed: 0 }, without: { closed: 0 } });
    for (const { unexpected } of clients.ledgers) expect(unexpected).toEqual([]);
    return effect;
  };

  it('lets nobody who lacks the certificate of a database change Patroni, read etcd, or be a superuser', async () => {
    const { primary } = await fleet.postgres.whole();
    const ask = fetchOver({ ca: fleet.ca });
    const change = { method: 'PATCH', body: JSON.stringify({ pause: true }) };
    expect((await ask(`https://127.0.0.1:${primary.restPort}/config`, change)).status).toBe(403);
    await expect(ask(`https://127.0.0.1:${fleet.postgres.etcdPort}/v2/keys/`)).rejects.toThrow();
    const url = fleet.databaseUrl;
    await expect(queryOnce(url.replace(/[?].*/, ''), 'select')).rejects.toThrow('no encryption');
    for (const role of ['postgres', 'replicator'])
      await expect(queryOnce(url.replace('//time_logs', `//${role}`), 'select')).rejects.toThrow(
        'valid client certificate',
      );
  });

  it('acknowledges every create of a client with keys while instances are killed', async () => {
    const effect = await through(`SIGKILL of an instance, ${KILLS} times`, async () => {
      for (let kill = 0; kill < KILLS; kill++) {
        const instance = fleet.instances[kill % fleet.instances.length]!;
        await instance.end('SIGKILL');
        await clients.without.acknowledge(20);
        await instance.start();
      }
    });
    expect(effect.withKeys).toEqual(UNNOTICED);
  });

  it('acknowledges every create while instances are replaced one after the other', async () => {
    const effect = await through(`each instance replaced, ${ROLLS} times`, async () => {
      for (let roll = 0; roll < ROLLS; roll++)
        for (const instance of [...fleet.instances, fleet.reader]) await instance.replace();
    });
    expect(effect).toMatchObject({ withKeys: UNNOTICED, without: UNNOTICED });
  });

  it('loses nothing where the primary is killed', async () => {
    await through(`SIGKILL of the primary, ${FAILOVERS} times`, async () => {
      for (let kill = 0; kill < FAILOVERS; kill++) {
        await fleet.postgres.failOver();
        await clients.withKeys.acknowledge(20);
        await fleet.verifyCounts();
        await fleet.postgres.whole();
      }
    });
  });

  it('loses nothing where primary and standby change places', async () => {
    await through('switchover', async () => {
      const { standby } = await fleet.postgres.switchOver();
      await clients.withKeys.acknowledge(20);
      await fleet.verifyCounts();
      expect((await fleet.postgres.whole()).primary.name).toBe(standby.name);
    });
  });

  it('has every acknowledged log once, and its feed too', async () => {
    await clients.stop();
    const stored = await firstColumn(fleet.databaseUrl, 'select id from time_logs order by 1');
    await eventually(() => expect(follower.ids.length).toBeGreaterThanOrEqual(stored.length));
    await follower.stop();
    const again = fleet.follow();
    await eventually(() => expect(again.ids.length).toBeGreaterThanOrEqual(stored.length));
    await again.stop();

    for (const ledger of clients.ledgers)
      expect(await audit(fleet.databaseUrl, ledger)).toMatchObject({ lost: [], doubled: [] });
    expect(again.ids).toEqual(follower.ids);
    expect(again.logs.toSorted()).toEqual(stored);
    await fleet.verifyCounts();
  });
});
