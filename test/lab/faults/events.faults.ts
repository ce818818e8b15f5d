import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { EventRelayMeasures } from '../../../src/event-relay/event-relay.measures.js';
import { MemorySink } from '../../events/memory-sink.js';
import { migrateForRelay, startRelayHost } from '../../events/relay-host.js';
import { timesOf } from '../../support/extent.js';
import { LossyProxy } from '../../support/lossy-proxy.js';
import { PROJECT } from '../../support/requests.js';
import { connected, PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { type Broker, startNats, startRabbit } from '../brokers/brokers.js';
import { type Delivery, EventQueue, eventsOfStream, withChannel, withStreams } from '../brokers/consumers.js';
import { describeWith } from '../describe-with.js';
import { eventually } from '../../support/eventually.js';
import { serve, type ServiceUnderWrites, underWrites } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

const KILLS = timesOf(10, 2);
/** Milliseconds that each writer waits after a create: what counts is what is written meanwhile, and not how fast. */
const PACE = 10;
/** Creates while the broker is away. */
const MISSED = timesOf(5_000, 500);

/** A broker as the faults need it. */
interface EventBroker {
  start(): Promise<Broker>;
  /** Makes a place for the events at a URL, empty and with room. It keeps repeats, too. */
  prepare(url: string): Promise<unknown>;
  /** Every event that has come since, in order. */
  events(url: string): Promise<readonly Delivery[]>;
  /** Has it take no more events, by its own rules. */
  fill(url: string): Promise<unknown>;
  makeRoom(url: string): Promise<unknown>;
}

const STREAM = {
  name: 'time-logs',
  subjects: ['time-log.*'],
  discard: 'new' as const,
  // In nanoseconds, the least that there is: repeats must be seen.
  duplicate_window: 100_000_000,
};
let queue: EventQueue;

const BROKERS: Readonly<Record<string, EventBroker>> = {
  'nats-server': {
    start: () => startNats(),
    prepare: (url) =>
      withStreams(url, async (streams) => {
        await streams.delete('time-logs').catch(() => undefined);
        await streams.add(STREAM);
      }),
    events: eventsOfStream,
    fill: (url) =>
      withStreams(url, async (streams) => {
        const { state } = await streams.info('time-logs');
        // With less room the server would remove what is there.
        await streams.update('time-logs', { ...STREAM, max_msgs: state.messages + 50 });
      }),
    makeRoom: (url) =>
      withStreams(url, (streams) => streams.update('time-logs', { ...STREAM, max_msgs: -1 })),
  },
  'rabbitmq-server': {
    start: () => startRabbit(),
    prepare: async (url) => {
      await withChannel(url, (channel) => channel.deleteQueue('events'));
      queue = new EventQueue(url);
      await queue.bind();
    },
    events: () => queue.events(),
    fill: () => queue.unbind(),
    makeRoom: () => queue.bind(),
  },
};

for (const [program, kind] of Object.entries(BROKERS))
  describeWith(program)(`all events get to ${program}, whatever is taken away`, () => {
    const postgres = useCluster();
    let broker: Broker;
    let proxy: LossyProxy;
    let url: string;
    beforeAll(async () => {
      broker = await kind.start();
      proxy = new LossyProxy(Number(new URL(broker.url).port));
      await proxy.listen();
    });
    afterAll(async () => {
      proxy.close();
      await broker.stop();
    });
    beforeEach(async () => {
      await kind.prepare(broker.url);
      url = await postgres.createDatabase();
    });

    const lines = ({ service }: Pick<ServiceUnderWrites, 'service'>) =>
      [...service.output().matchAll(/"(?:events wait for|events go to) [^"]*"/g)].map(([line]) => line);
    /** The place in the feed up to which the relay has noted the events, and whether it is the last. */
    const note = async () => {
      const [row] = await queryOnce<{ position: string; isLast: boolean }>(
        url,
        `select position, not exists (select from time_logs logs
           where (logs.position, logs.id) > (relay.position, relay.id)) as "isLast" from time_log_relays relay`,
      );
      return row;
    };
    /** As if the time of a lease were over. */
    const expireLease = () => queryOnce(url, 'update time_log_relays set leased_until = now()');
    const published = async (events: number) => {
      const from = BigInt((await note())?.position ?? 0);
      await eventually(async () =>
        expect(BigInt((await note())?.position ?? 0)).toBeGreaterThan(from + BigInt(events)),
      );
    };
    /** Kills a service that has published events and waits for the lock of their note. */
    const killBeforeNote = async ({ service }: Pick<ServiceUnderWrites, 'service'>) => {
      const client = await connected(url);
      await client.query('begin; select from time_log_relays for update');
      const from = BigInt((await note())!.position);
      const isPublished = ({ event }: Delivery) => BigInt(event.id.split('-')[0]!) > from;
      await eventually(async () => expect((await kind.events(broker.url)).some(isPublished)).toBe(true));
      await service.end('SIGKILL');
      // The server would otherwise make the note once the lock is free, as it has not seen yet that its client is gone.
      await eventually(async () => {
        const { rowCount } = await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and wait_event_type = 'Lock'`,
        );
        expect(rowCount).toBe(0);
      });
      await client.end();
    };
    const env = () => ({ EVENTS_URL: proxy.url(broker.url) });
    /** Compares the events with the table, read without the service; returns how many of them came again. */
    const audit = async (deliveries: readonly Delivery[]) => {
      for (const { id, event } of deliveries) expect(id).toBe(event.id);
      const events = new Map(deliveries.map(({ event }) => [event.id, event]));
      const rows = await queryOnce<{ subject: string }>(
        url,
        `select position || '-' || id as id, project_id as subject, 'time-log.created' as type,
                json_build_object('id', id, 'projectId', project_id, 'duration', duration, 'description', description,
                                  'date', to_char(date, 'YYYY-MM-DD')) as data
           from time_logs order by position, id`,
      );
      // Only events of one project have an order.
      const byProject = (one: { subject: string }, other: { subject: string }) =>
        one.subject.localeCompare(other.subject);
      expect([...events.values()].toSorted(byProject)).toMatchObject(rows.toSorted(byProject));
      return deliveries.length - events.size;
    };
    /** Injects a fault under writes, lets a service publish what is left, and looks at the events. */
    const survives = async (inject: (scene: ServiceUnderWrites) => Promise<void>) => {
      await underWrites({ database: url, env: env(), projects: 8, pace: PACE }, inject);
      await expireLease();
      const last = await serve(url, env());
      await eventually(async () => expect((await note())?.isLast).toBe(true));
      expect(await last.end()).toBe(0);
      return audit(await kind.events(broker.url));
    };

    it(`${KILLS} SIGKILLs of the service between an event and its note`, async () => {
      const repeats = await survives(async (scene) => {
        for (let kills = 1; kills <= KILLS; kills++) {
          await published(20);
          await killBeforeNote(scene);
          await expireLease();
          await scene.restart();
        }
        await published(20);
      });
      expect(repeats).toBeGreaterThanOrEqual(KILLS);
    });

    it.each([
      ['that is away', MISSED, () => proxy.close(), () => proxy.listen()],
      ['that takes no more', 500, () => kind.fill(broker.url), () => kind.makeRoom(broker.url)],
      ['behind a network that falls silent', 500, () => proxy.silence(), () => undefined],
    ])('a broker %s, while creates go on', async (_what, missed, fail, mend) => {
      await survives(async (scene) => {
        await published(20);
        await fail();
        const refused = scene.ledger.count('refused');
        await scene.writers.acknowledge(missed);
        expect(scene.ledger.count('refused')).toBe(refused);
        await eventually(() => expect(lines(scene)).not.toEqual([]));
        await mend();
        await published(20);
        const expected = [/^"events wait for /, /^"events go to /].map((line) => expect.stringMatching(line));
        await eventually(() => expect(lines(scene)).toEqual(expected));
      });
    });

    it('the SIGKILL of the one instance of two that publishes', async () => {
      await survives(async (scene) => {
        await published(20);
        const other = await serve(url, env());
        await scene.service.end('SIGKILL');
        scene.writers.aim(other.port);
        await published(20);
        // At the end it is asked for the total.
        await scene.restart();
      });
    });
  });

it('a relay on a standby sleeps, and goes on when the standby takes the place of the primary', async () => {
  const primary = await PostgresCluster.create();
  const standby = await primary.createStandby();
  const url = await primary.createDatabase();
  await migrateForRelay(url);
  const onStandby = standby.on(url);
  const sink = new MemorySink();
  // Compares one project: only its events have an order.
  const add = (address: string) =>
    queryOnce<{ id: string }>(
      address,
      `insert into time_logs (id, project_id, duration, description, date)
         values (overlay(gen_random_uuid()::text placing '019c1363-4a3b-7' from 1)::uuid, '${PROJECT}', 1, '', '2026-01-31')
         returning id`,
    );
  const [before] = await add(url);
  await eventually(async () => expect(await queryOnce(onStandby, 'select from time_logs')).toHaveLength(1));
  const host = await startRelayHost(onStandby, sink);
  try {
    // A standby that is behind would tell of a lag that there is not.
    const lags: (() => number)[] = [];
    host.app.get(EventRelayMeasures).registerMetrics({
      gauge: (_name: string, _help: string, read: () => number) => void lags.push(read),
      info: () => undefined,
    } as never);
    await eventually(() => expect(lags.map((read) => read())).toEqual([NaN, NaN]));
    expect([sink.kept, host.lines, standby.logged(/cannot execute/)]).toEqual([[], [], 0]);
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
