import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstreamManager, type StreamAPI } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { connect as connectRabbit } from 'amqplib';
import { type Delivery, EventQueue, eventsOfStream } from '../events/consumers.js';
import { MemorySink } from '../events/memory-sink.js';
import { migrateForRelay, startRelayHost } from '../events/relay-host.js';
import { type Broker, startNats, startRabbit } from '../messages/brokers.js';
import { describeWith } from '../messages/describe-with.js';
import { EventRelayMeasures } from '../../src/event-relay/event-relay.measures.js';
import { PROJECT } from '../support/requests.js';
import { type ServiceProcess, startService } from '../support/service-process.js';
import { BrokerProxy } from './support/broker-proxy.js';
import { auditEvents } from './support/event-audit.js';
import { eventually } from './support/eventually.js';
import { isAll, timesOf } from './support/extent.js';
import { PostgresCluster, queryOnce } from './support/postgres-cluster.js';
import { type ServiceUnderWrites, TOKEN, underWrites } from './support/service-under-writes.js';
import { count } from './support/tally.js';

const KILLS = timesOf(10, 2);
/** Milliseconds that each writer waits after a create: what counts is what is written meanwhile, and not how fast. */
const PACE = 10;
const LIMIT = 300_000;
/** Logs that wait for a broker, and how many of them one statement writes. */
const BACKLOG = timesOf(100_000, 1_000);
const BATCH = 500;
const RECORDED = `insert into time_logs (id, project_id, duration, description, date)
  select overlay(gen_random_uuid()::text placing '7' from 15 for 1)::uuid, ('0a000000-0000-4000-8000-00000000000' || n % 8)::uuid,
         1, '', '2026-01-31'
    from generate_series(1, $1) n`;
/** Milliseconds in which another instance must publish: ten times the promised 10 seconds. */
const TAKEOVER_LIMIT = 100_000;

/** A broker as the faults need it. */
interface EventBroker {
  readonly url: string;
  /** Makes a place for the events, empty and with room. It keeps repeats, too. */
  prepare(): Promise<void>;
  /** Every event that has come since, in order. */
  events(): Promise<readonly Delivery[]>;
  /** Has it take no more events, by its own rules. */
  fill(): Promise<void>;
  makeRoom(): Promise<void>;
  stop(): Promise<void>;
}

async function natsForEvents(): Promise<EventBroker> {
  const folder = await mkdtemp(join(tmpdir(), 'streams-'));
  const broker = await startNats(undefined, folder);
  const withStreams = async (act: (streams: StreamAPI) => Promise<unknown>) => {
    const connection = await connectNats({ servers: broker.url.slice('nats://'.length) });
    await act((await jetstreamManager(connection)).streams).finally(() => connection.close());
  };
  const shape = {
    name: 'time-logs',
    subjects: ['time-log.*'],
    discard: 'new' as const,
    // In nanoseconds, the least that there is: repeats must be seen.
    duplicate_window: 100_000_000,
  };
  return {
    url: broker.url,
    prepare: () =>
      withStreams(async (streams) => {
        await streams.delete('time-logs').catch(() => undefined);
        await streams.add(shape);
      }),
    events: () => eventsOfStream(broker.url),
    fill: () =>
      withStreams(async (streams) => {
        const { state } = await streams.info('time-logs');
        // With less room the server would remove what is there.
        await streams.update('time-logs', { ...shape, max_msgs: state.messages + 50 });
      }),
    makeRoom: () => withStreams((streams) => streams.update('time-logs', { ...shape, max_msgs: -1 })),
    stop: async () => {
      await broker.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function rabbitForEvents(): Promise<EventBroker> {
  const broker: Broker = await startRabbit();
  let queue = new EventQueue(broker.url);
  return {
    url: broker.url,
    prepare: async () => {
      const connection = await connectRabbit(broker.url);
      const channel = await connection.createChannel();
      await channel.deleteQueue('events');
      await connection.close();
      queue = new EventQueue(broker.url);
      await queue.bind();
    },
    events: () => queue.events(),
    fill: () => queue.unbind(),
    makeRoom: () => queue.bind(),
    stop: () => broker.stop(),
  };
}

describe.each([
  ['NATS JetStream', 'nats-server', natsForEvents, isAll ? 60_000 : 10_000],
  ['RabbitMQ', 'rabbitmq-server', rabbitForEvents, 10_000],
])('the events in %s', (_name, program, open, absence) => {
  describeWith(program)('get through', () => {
    let postgres: PostgresCluster;
    let broker: EventBroker;
    let proxy: BrokerProxy;
    let url: string;
    beforeAll(async () => {
      [postgres, broker] = await Promise.all([PostgresCluster.create(), open()]);
      proxy = await BrokerProxy.before(broker.url);
    });
    afterAll(async () => {
      await proxy.takeAway();
      await broker.stop();
      await postgres.remove();
    });
    beforeEach(async () => {
      await broker.prepare();
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
    /** Injects a fault under writes, lets a service publish what is left, and holds the events against the table. */
    const survives = async (
      inject: (scene: ServiceUnderWrites, start: () => Promise<ServiceProcess>) => Promise<void>,
    ) => {
      const env = { EVENTS_URL: proxy.url(broker.url) };
      const start = () => startService({ DATABASE_URL: url, ACCESS_TOKEN: TOKEN, ...env });
      const others: ServiceProcess[] = [];
      await underWrites({ url, env, projects: 8, pace: PACE }, (scene) =>
        inject(scene, async () => {
          const other = await start();
          others.push(other);
          return other;
        }),
      ).finally(() => Promise.all(others.map((other) => other.end('SIGKILL'))));
      await expireLease();
      const last = await start();
      try {
        await eventually(async () => expect((await note())?.isLast).toBe(true));
        expect(await last.end()).toBe(0);
      } finally {
        await last.end('SIGKILL');
      }
      const { logs, repeats, ...finding } = await auditEvents(url, await broker.events());
      await count({ events: logs, repeats });
      expect(finding).toEqual({ missing: [], invented: [], disordered: [], outdated: 0 });
      return { logs, repeats };
    };

    it(
      `${KILLS} SIGKILLs of the service between an event and its note`,
      async () => {
        const { repeats } = await survives(async (scene) => {
          for (let kills = 1; kills <= KILLS; kills++) {
            await published(20);
            const { child } = scene.service;
            const exit = once(child, 'exit');
            child.kill('SIGKILL');
            await exit;
            await expireLease();
            await scene.restart();
            scene.count({ kills });
          }
          await published(20);
        });
        // Otherwise no kill has met an event whose note was missing.
        expect(repeats).toBeGreaterThan(0);
      },
      LIMIT,
    );

    it(
      `a broker that is away for ${absence / 1_000} s, while creates go on`,
      async () => {
        await survives(async (scene) => {
          await published(20);
          await proxy.takeAway();
          const [refused, end] = [scene.ledger.count('refused'), performance.now() + absence];
          while (performance.now() < end) {
            await scene.writers.acknowledge(20);
            await delay(100);
          }
          expect(scene.ledger.count('refused')).toBe(refused);
          await proxy.restore();
          await published(20);
          await eventually(() => expect(lines(scene)).toHaveLength(2));
          expect(lines(scene)).toEqual([
            expect.stringMatching(/^"events wait for /),
            expect.stringMatching(/^"events go to /),
          ]);
        });
      },
      LIMIT,
    );

    it(
      `${BACKLOG} logs that are recorded while the broker is away`,
      async () => {
        await proxy.takeAway();
        const service = await startService({
          DATABASE_URL: url,
          ACCESS_TOKEN: TOKEN,
          EVENTS_URL: proxy.url(broker.url),
        });
        try {
          for (let written = 0; written < BACKLOG; written += BATCH) await queryOnce(url, RECORDED, [BATCH]);
          await eventually(() => expect(lines({ service })).toHaveLength(1));
          await proxy.restore();
          const begun = performance.now();
          await eventually(async () => expect((await note())?.isLast).toBe(true), LIMIT);
          const took = ((performance.now() - begun) / 1_000).toFixed(1);
          process.stderr.write(`${BACKLOG} events waited for the broker: ${took} s after it was back\n`);
          expect(await service.end()).toBe(0);
        } finally {
          await service.end('SIGKILL');
        }
        const { logs, repeats, ...finding } = await auditEvents(url, await broker.events());
        expect(logs).toBe(BACKLOG);
        await count({ events: logs, repeats });
        expect(finding).toEqual({ missing: [], invented: [], disordered: [], outdated: 0 });
      },
      LIMIT,
    );

    it(
      'a broker that takes no more',
      async () => {
        await survives(async (scene) => {
          await published(20);
          await broker.fill();
          await scene.writers.acknowledge(500);
          await eventually(() => expect(lines(scene)).toHaveLength(1));
          await broker.makeRoom();
          await published(20);
          await eventually(() => expect(lines(scene)).toHaveLength(2));
        });
      },
      LIMIT,
    );

    it(
      'a network that falls silent',
      async () => {
        await survives(async (scene) => {
          await published(20);
          proxy.silence();
          await scene.writers.acknowledge(500);
          await published(20);
          await eventually(() => expect(lines(scene)).toHaveLength(2));
        });
      },
      LIMIT,
    );

    it(
      'the SIGKILL of the one instance of two that publishes',
      async () => {
        await survives(async (scene, start) => {
          await published(20);
          const other = await start();
          const { child } = scene.service;
          const exit = once(child, 'exit');
          child.kill('SIGKILL');
          await exit;
          const begun = performance.now();
          scene.writers.aim(other.port);
          await published(20);
          expect(performance.now() - begun).toBeLessThan(TAKEOVER_LIMIT);
          // At the end it is asked for the total.
          await scene.restart();
        });
      },
      LIMIT,
    );
  });
});

describe('the relay on a standby', () => {
  it(
    'sleeps, and goes on when the standby takes the place of the primary',
    async () => {
      const primary = await PostgresCluster.create();
      const standby = await primary.createStandby();
      const url = await primary.createDatabase();
      await migrateForRelay(url);
      const onStandby = url.replace(/@[^/]+/, /@[^/]+/.exec(standby.url)![0]);
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
      await eventually(async () =>
        expect(await queryOnce(onStandby, 'select from time_logs')).toHaveLength(1),
      );
      const host = await startRelayHost(onStandby, sink);
      try {
        // Some turns in which it might publish.
        await delay(3_000);
        expect([sink.kept, host.lines, standby.logged(/cannot execute/)]).toEqual([[], [], 0]);
        // A standby that is behind would tell of a lag that there is not.
        const lags: (() => number)[] = [];
        host.app.get(EventRelayMeasures).measure({
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
    },
    LIMIT,
  );
});
