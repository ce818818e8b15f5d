import { expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import type { Follower } from '../faults/support/follower.js';
import { firstColumn } from '../../support/postgres-cluster.js';
import { Clients } from './clients.js';
import { describeWith } from '../describe-with.js';
import { PROGRAMS, useFleet } from './fleet.js';

const positionOf = (eventId: string) => BigInt(eventId.split('-')[0]!);

describeWith(...PROGRAMS)('a fleet that is set back to a moment', () => {
  const fleet = useFleet(({ instances }) => instances[0]!.start());

  /** The first column of what a statement returns. */
  const query = (sql: string) => firstColumn(fleet.databaseUrl, sql);
  const createBriefly = async () => {
    const clients = new Clients(fleet);
    await clients.withKeys.acknowledge(100);
    await clients.stop();
    for (const { unexpected } of clients.ledgers) expect(unexpected).toEqual([]);
    return [...clients.acknowledged.values()].map(({ id }) => id);
  };
  const hasRead = (follower: Follower, logs: readonly string[]) =>
    eventually(() => {
      const read = new Set(follower.logs);
      expect(logs.filter((id) => !read.has(id))).toEqual([]);
    });

  it('has every log that was acknowledged before, and publishes each later one once', async () => {
    const follower = fleet.follow();
    for (const member of fleet.postgres.members) await member.run('backup', 'full');
    const before = await createBriefly();
    const [moment] = (await query('select clock_timestamp()::text')) as [string];
    const undone = await createBriefly();
    await fleet.postgres.switchOver();
    await fleet.postgres.whole();
    await fleet.instances[0]!.replace();
    undone.push(...(await createBriefly()));
    await hasRead(follower, [...before, ...undone]);
    const last = follower.ids.at(-1)!;
    const lengthBefore = follower.ids.length;
    await query('drop table time_logs cascade');

    const { primary, standby } = await fleet.postgres.whole();
    await expect(primary.run('recover', moment)).rejects.toThrow('Please specify the leader name');
    await fleet.instances[0]!.end();
    await standby.stop();
    await primary.stop();
    // The archive does not reach so far. The next try needs nothing else.
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString().replace('T', ' ').replace('Z', '+00');
    await expect(primary.run('recover', inAnHour)).rejects.toThrow(
      'recovery ended before configured recovery target was reached',
    );
    await primary.run('recover', moment);
    primary.start();
    await eventually(async () => expect(await primary.is('primary')).toBe(true));
    await eventually(() => query(`select move_time_log_positions(${positionOf(last)})`));
    await fleet.instances[0]!.start();
    const after = await createBriefly();

    const stored = (await query('select id from time_logs order by 1')) as string[];
    expect(stored).toEqual([...before, ...after].sort());
    expect(undone.filter((id) => stored.includes(id))).toEqual([]);
    await fleet.verifyCounts();

    // A reader that continues gets new events once, at places that no reader has received before.
    await hasRead(follower, after);
    expect(follower.logs.length).toBe(lengthBefore + after.length);
    expect(follower.ids.slice(lengthBefore).filter((id) => positionOf(id) <= positionOf(last))).toEqual([]);
    // A reader that starts again has the logs of the table.
    const another = fleet.follow();
    await hasRead(another, stored);
    expect(another.logs.length).toBe(stored.length);

    standby.start();
    expect((await fleet.postgres.whole()).standby).toBe(standby);
    await eventually(async () => {
      const copied = await firstColumn(
        fleet.postgres.url(standby.port),
        'select id from time_logs order by 1',
      );
      expect(copied).toEqual(stored);
    });
  });
});
