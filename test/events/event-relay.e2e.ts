import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { TimeLog } from '../../src/time-log/index.js';
import { eventually } from '../support/eventually.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';
import { MemorySink } from './memory-sink.js';
import { type RelayHost, renewed, startRelayHost } from './relay-host.js';

let database: TestDatabase;
let hosts: RelayHost[];
beforeEach(async () => {
  database = await createMigratedDatabase();
  hosts = [];
});
afterEach(async () => {
  for (const host of hosts) await host.close();
  await database.drop();
});

const start = async (sink: MemorySink) => {
  const host = await startRelayHost(database.url, sink);
  hosts.push(host);
  return host;
};
const stop = async (host: RelayHost) => {
  hosts = hosts.filter((other) => other !== host);
  await host.close();
};
const record = (host: RelayHost, projectId: string = randomUUID()) =>
  host.timeLogs.record({ projectId, duration: 1.5, description: 'Wrote tests', date: '2026-01-31' });
/** Resolves when a sink has the events of a number of logs. */
const arrived = (sink: MemorySink, logs: number) =>
  eventually(() => expect(new Set(sink.kept.map(({ id }) => id)).size).toBe(logs));
/** The logs of one project, or of all, in the order in which their events came first. */
const order = ({ kept }: MemorySink, projectId?: string) => [
  ...new Set(
    kept.filter(({ subject }) => projectId === undefined || subject === projectId).map(({ data }) => data.id),
  ),
];
const sql = <Row extends object>(text: string, values?: unknown[]) =>
  queryOnce<Row>(database.url, text, values);
const add = (id: string) =>
  sql(
    `insert into time_logs (id, project_id, duration, description, date) values ($1, $2, 1, '', '2026-01-31')`,
    [id, randomUUID()],
  );
const expectOrder = async (sink: MemorySink, projects: readonly string[]) => {
  for (const project of projects) {
    const logs = await sql<{ id: string }>(
      'select id from time_logs where project_id = $1 order by position, id',
      [project],
    );
    expect(order(sink, project)).toEqual(logs.map(({ id }) => id));
  }
};
const note = async () => {
  const [row] = await sql<{ id: string; holder: string; isFree: boolean }>(
    'select id, holder, leased_until < now() as "isFree" from time_log_relays',
  );
  return row;
};
/** Starts a host with a sink of its own. */
const startNew = async () => {
  const sink = new MemorySink();
  return { sink, host: await start(sink) };
};
/** Starts a host, whose sink has the event of a log. */
const startWithOne = async () => {
  const { sink, host } = await startNew();
  await record(host);
  await arrived(sink, 1);
  return { sink, host };
};
describe('the relay', () => {
  it('publishes the event of every log once, several at a time, but one of a project and in its order', async () => {
    const sink = new MemorySink();
    const [first, second] = [await start(sink), await start(sink)];
    const projects = Array.from({ length: 20 }, () => randomUUID());
    const logs: TimeLog[] = [];
    for (let round = 0; round < 10; round++) {
      const batch = projects.flatMap((project) => [record(first, project), record(second, project)]);
      logs.push(...(await Promise.all(batch)));
    }
    await arrived(sink, logs.length);
    expect(sink.kept.map(({ data }) => data.id).sort()).toEqual(logs.map(({ id }) => id).sort());
    await expectOrder(sink, projects);
    expect(sink.most.ofProject).toBe(1);
    expect(sink.most.inAll).toBeGreaterThan(1);
    expect(sink.most.inAll).toBeLessThanOrEqual(16);
  });

  it('publishes logs of SQL, and those from before it was there', async () => {
    const ids = ['019c1370-4e1b-7000-8000-000000000002', '019c1370-4e1b-7000-8000-000000000001'];
    await add(ids[0]!);
    const sink = new MemorySink();
    await start(sink);
    await arrived(sink, 1);
    await add(ids[1]!);
    await arrived(sink, 2);
    expect(order(sink)).toEqual(ids);
  });

  it('publishes corrections and deletions, by SQL too, those of one log one after the other, in any project', async () => {
    const { sink, host } = await startNew();
    const [from, to] = [randomUUID(), randomUUID()];
    const log = await record(host, from);
    await arrived(sink, 1);
    const gate = sink.hold(to);
    sink.most = { ofProject: 0, inAll: 0 };
    await host.timeLogs.correct(log.id, { projectId: to, duration: 2, description: '', date: '2026-01-31' });
    await eventually(() => expect(sink.most.inAll).toBe(1));
    // The event is in flight: all that follow wait.
    await sql('update time_logs set project_id = $1 where id = $2', [from, log.id]);
    const other = await record(host);
    gate.open();
    await arrived(sink, 4);
    expect(order(sink)).toEqual([log.id, other.id]);
    await sql('delete from time_logs where id = $1', [log.id]);
    await arrived(sink, 5);
    const published = sink.kept.filter(({ data }) => data.id === log.id);
    expect(published.map(({ type, subject }) => [type, subject])).toEqual([
      ['time-log.created', from],
      ['time-log.corrected', to],
      ['time-log.corrected', from],
      ['time-log.deleted', from],
    ]);
    expect(published.at(-1)!.data).toEqual({ id: log.id, projectId: from });
    expect(published.map((event) => 'method' in event && event.method)).toEqual([
      false,
      false,
      false,
      'DELETE',
    ]);
  });

  it('publishes all that is there again where the feed no longer reaches back, and says so once', async () => {
    const { sink, host } = await startWithOne();
    await sql('truncate time_logs');
    const logs = [await record(host), await record(host)];
    await arrived(sink, 3);
    expect(order(sink).slice(1).sort()).toEqual(logs.map(({ id }) => id).sort());
    expect(host.lines).toEqual([
      expect.stringMatching(/^the feed no longer reaches back to what memory got last: /),
    ]);
  });

  it('waits while nobody takes an event, says so once, and loses nothing', async () => {
    const { sink, host } = await startWithOne();
    sink.fault = 'it is full';
    const project = randomUUID();
    for (let i = 0; i < 5; i++) await record(host, project);
    await eventually(() => expect(sink.connections).toBeGreaterThan(3));
    sink.fault = undefined;
    await arrived(sink, 6);
    await expectOrder(sink, [project]);
    expect(host.lines).toEqual(['events wait for memory: it is full', 'events go to memory again']);
  });

  it('saves how far it got, never ahead of an event that is not confirmed', async () => {
    const { sink, host } = await startNew();
    const before = await record(host);
    await eventually(async () => expect((await note())?.id).toBe(before.id));
    const project = randomUUID();
    const gate = sink.hold(project);
    // One page, whose first event waits.
    const held = '019c1370-4e1b-7000-8000-000000000001';
    await sql(
      `insert into time_logs (id, project_id, duration, description, date)
       select ('019c1370-4e1b-7000-8000-' || lpad(number::text, 12, '0'))::uuid,
              case when number = 1 then $1 else gen_random_uuid() end, 1, '', '2026-01-31'
         from generate_series(1, 21) as number`,
      [project],
    );
    await arrived(sink, 21);
    // Each renewal might save too much.
    for (let renewal = 0; renewal < 3; renewal++) await renewed(database.url);
    const other = new MemorySink();
    await start(other);
    // As if the first instance had been killed.
    const free = await sql<{ id: string }>(
      `update time_log_relays set holder = gen_random_uuid(), leased_until = now() - interval '1 second' returning id`,
    );
    expect(free).toEqual([{ id: before.id }]);
    await arrived(other, 21);
    expect(order(other)).toContain(held);
    expect(order(other)).not.toContain(before.id);
    gate.open();
  });

  it('waits for an instance that publishes, says so once, and takes over at once when that one ends', async () => {
    const { sink: one, host: first } = await startWithOne();
    const two = new MemorySink();
    const second = await start(two);
    await eventually(() => expect(second.lines).toHaveLength(1));
    await record(second);
    await arrived(one, 2);
    const held = await note();
    await stop(first);
    const left = await note();
    // The other one may have it already.
    expect([one.closed, left!.isFree || left!.holder !== held!.holder]).toEqual([1, true]);
    const project = randomUUID();
    const logs = [await record(second, project), await record(second, project)];
    await arrived(two, 2);
    expect([order(one).length, order(two)]).toEqual([2, logs.map(({ id }) => id)]);
    expect(second.lines).toEqual([
      'another instance publishes events to memory: this one waits',
      'this instance publishes events to memory now',
    ]);
  });

  it('goes on at once where the clock of the database went back by an hour', async () => {
    const ended = new MemorySink();
    const first = await start(ended);
    const before = await record(first);
    await eventually(async () => expect((await note())?.id).toBe(before.id));
    await stop(first);
    // The state that an instance leaves if it is killed before the clock is set back by an hour.
    await sql(
      `update time_log_relays set holder = gen_random_uuid(), leased_until = now() + interval '1 hour'`,
    );
    const { sink, host } = await startNew();
    const after = await record(host);
    await arrived(sink, 1);
    expect([order(sink), host.lines]).toEqual([[after.id], []]);
  });
});
