import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { EventRelayMeasures } from '../../../libs/event-relay/src/event-relay.measures.js';
import { MemorySink } from '../../events/memory-sink.js';
import { migrateForRelay, startRelayHost } from '../../events/relay-host.js';
import { PROJECT } from '../../support/requests.js';
import { eventually } from '../eventually.js';
import { PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';

it('a relay on a standby sleeps, and goes on when the standby takes the place of the primary', async () => {
  const primary = await PostgresCluster.create();
  const standby = await primary.createStandby();
  const url = await primary.createDatabase();
  await migrateForRelay(url);
  const onStandby = standby.on(url);
  const sink = new MemorySink();
  // Of one project: only its events have an order.
  const add = (address: string) =>
    queryOnce<{ id: string }>(
      address,
      `insert into time_logs (id, project_id, duration, description, date)
         values (overlay(gen_random_uuid()::text placing '7' from 15)::uuid, '${PROJECT}', 1, '', '2026-01-31')
         returning id`,
    );
  const [before] = await add(url);
  await eventually(async () => expect(await queryOnce(onStandby, 'select from time_logs')).toHaveLength(1));
  const host = await startRelayHost(onStandby, sink);
  try {
    // Some turns in which it might publish.
    await delay(3_000);
    expect([sink.kept, host.lines, standby.logged(/cannot execute/)]).toEqual([[], [], 0]);
    // A standby that is behind would tell of a lag that there is not.
    const lags: (() => number)[] = [];
    host.app.get(EventRelayMeasures).registerMetrics({
      gauge: (_name: string, _help: string, read: () => number) => void lags.push(read),
    } as never);
    await eventually(() => expect(lags.map((read) => read())).toEqual([NaN, NaN]));
    await primary.end('SIGQUIT');
    await standby.query('select pg_promote()');
    const [after] = await add(onStandby);
    await eventually(() => expect(sink.kept.map(({ data }) => data.id)).toEqual([before!.id, after!.id]));
    await eventually(() => expect(lags.map((read) => read())).toEqual([0, 0]));
  } finally {
    await host.close();
    await standby.remove();
    await primary.remove();
  }
});
