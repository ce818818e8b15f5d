import { expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { firstColumn } from '../../support/postgres-cluster.js';
import { isAll } from '../../support/extent.js';
import { Clients } from './clients.js';
import { describeWith } from '../describe-with.js';
import { PROGRAMS, useFleet } from './fleet.js';
import type { Follower } from '../faults/support/follower.js';
import type { PostgresPair } from './postgres-pair.js';

/** Logs that are there before the backup. */
const LOGS = isAll ? 100_000 : 20_000;
/** How often primary and standby change places after the moment. */
const MOVES = isAll ? 2 : 0;

const positionOf = (eventId: string) => BigInt(eventId.split('-')[0]!);

describeWith(...PROGRAMS)('a fleet that is set back to a moment', () => {
  const fleet = useFleet({ prepare: ({ instances }) => instances[0]!.start() });
  /** The primary and the standby at the recovery. */
  let pair: Awaited<ReturnType<PostgresPair['whole']>>;

  /** The first column of what a statement returns. */
  const query = (sql: string) => firstColumn(fleet.databaseUrl, sql);
  const idsOf = async (databaseUrl: string) =>
    new Set((await firstColumn(databaseUrl, 'select id from time_logs')) as string[]);
  const createBriefly = async () => {
    const clients = new Clients(fleet);
    await clients.withKeys.writers.acknowledge(100);
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
    await query(
      `insert into time_logs (id, project_id, duration, description, date)
         select ('019c1370-4e1b-7000-8000-' || lpad(n::text, 12, '0'))::uuid, '3f2b1c00-0000-4000-8000-000000000000', 1, 'a log of before the backup', '2026-01-31'
           from generate_series(1, ${LOGS}) n`,
    );
    const saved = performance.now();
    for (const member of fleet.postgres.members) await member.run('backup', 'full');
    const secondsOfBackup = (performance.now() - saved) / 1_000;
    const before = await createBriefly();
    const [moment] = (await query('select clock_timestamp()::text')) as [string];
    const undone = await createBriefly();
    for (let move = 0; move < MOVES; move++) {
      await fleet.postgres.switchOver();
      await fleet.postgres.whole();
      await fleet.instances[0]!.replace();
      undone.push(...(await createBriefly()));
    }
    await hasRead(follower, [...before, ...undone]);
    const last = follower.ids.at(-1)!;
    const lengthBefore = follower.ids.length;
    await query('drop table time_logs cascade');

    const begun = performance.now();
    pair = await fleet.postgres.whole();
    const { primary, standby } = pair;
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
    const seconds = (performance.now() - begun) / 1_000;

    const stored = await idsOf(fleet.databaseUrl);
    expect(before.filter((id) => !stored.has(id))).toEqual([]);
    expect(undone.filter((id) => stored.has(id))).toEqual([]);
    expect(stored.size).toBe(LOGS + before.length + after.length);
    await fleet.verifyCounts();

    // A reader that continues gets new events once, at places that no reader has received before.
    await hasRead(follower, after);
    expect(follower.logs.length).toBe(lengthBefore + after.length);
    expect(follower.ids.slice(lengthBefore).filter((id) => positionOf(id) <= positionOf(last))).toEqual([]);
    // A reader that starts again has the logs of the table.
    const another = fleet.follow();
    await hasRead(another, [...stored]);
    expect(another.logs.length).toBe(stored.size);

    const [size] = await query('select pg_size_pretty(pg_database_size(current_database()))');
    process.stderr.write(
      `${stored.size} logs (${String(size)}): saved in ${secondsOfBackup.toFixed(1)} s, from the mistake to the next creates ${seconds.toFixed(1)} s\n`,
    );
  });

  it('has a standby that recovers by itself, then is copied again, and each time has the data of the primary', async () => {
    const { primary, standby } = pair;
    const follows = async () => {
      expect((await fleet.postgres.whole()).standby).toBe(standby);
      await createBriefly();
      const logs = await idsOf(fleet.databaseUrl);
      await eventually(async () => expect(await idsOf(fleet.postgres.url(standby.port))).toEqual(logs));
    };
    standby.start();
    await follows();
    const lengthBefore = standby.output.length;
    await primary.rejoin(standby);
    await eventually(() => expect(standby.output.slice(lengthBefore)).toContain('replica has been created'));
    await follows();
    for (const member of fleet.postgres.members) await member.run('backup', 'full');
  });
});
