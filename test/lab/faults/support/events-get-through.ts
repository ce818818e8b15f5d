import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { describeWith } from '../../describe-with.js';
import type { ServiceProcess } from '../../../support/service-process.js';
import { BrokerProxy } from './broker-proxy.js';
import { auditEvents } from './event-audit.js';
import type { EventBroker } from './event-brokers.js';
import { eventually } from '../../eventually.js';
import { timesOf } from '../../../support/extent.js';
import { queryOnce } from '../../../support/postgres-cluster.js';
import { serve } from './serve.js';
import { type ServiceUnderWrites, underWrites } from './service-under-writes.js';
import { useCluster } from './use-cluster.js';

const KILLS = timesOf(10, 2);
/** Milliseconds that each writer waits after a create: what counts is what is written meanwhile, and not how fast. */
const PACE = 10;
/** Logs that wait for a broker, and how many of them one statement writes. */
export const BACKLOG = timesOf(100_000, 1_000);
const BATCH = 500;
const RECORDED = `insert into time_logs (id, project_id, duration, description, date)
  select overlay(gen_random_uuid()::text placing '7' from 15 for 1)::uuid, ('0a000000-0000-4000-8000-00000000000' || n % 8)::uuid,
         1, '', '2026-01-31'
    from generate_series(1, $1) n`;

/** Records the logs that wait, past the service. */
export async function recordBacklog(url: string): Promise<void> {
  for (let written = 0; written < BACKLOG; written += BATCH) await queryOnce(url, RECORDED, [BATCH]);
}

/**
 * Every event gets to a broker, whatever is taken away; `absence` is for how many milliseconds the broker is. Each
 * broker has a file of its own: that of both took longer than all other faults.
 */
export function describeEvents(
  name: string,
  { program, open, absence }: { program: string; open: () => Promise<EventBroker>; absence: number },
): void {
  describeWith(program)(`the events in ${name} get through`, () => {
    const postgres = useCluster();
    let broker: EventBroker;
    let proxy: BrokerProxy;
    let url: string;
    beforeAll(async () => {
      broker = await open();
      proxy = await BrokerProxy.before(broker.url);
    });
    afterAll(async () => {
      await proxy.takeAway();
      await broker.stop();
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
    const env = () => ({ ...broker.settings, EVENTS_URL: proxy.url(broker.url) });
    const start = () => serve(url, env());
    const allPublished = () => eventually(async () => expect((await note())?.isLast).toBe(true));
    /** Ends the last service, and holds the events against the table. */
    const expectAllEvents = async (last: ServiceProcess) => {
      expect(await last.end()).toBe(0);
      const { logs, repeats, ...finding } = await auditEvents(url, await broker.events());
      expect(finding).toEqual({ missing: [], invented: [], disordered: [], outdated: 0 });
      return { logs, repeats };
    };
    /** Injects a fault under writes, lets a service publish what is left, and looks at the events. */
    const survives = async (inject: (scene: ServiceUnderWrites) => Promise<void>) => {
      await underWrites({ database: url, env: env(), projects: 8, pace: PACE }, inject);
      await expireLease();
      const last = await start();
      await allPublished();
      return expectAllEvents(last);
    };

    it(`${KILLS} SIGKILLs of the service between an event and its note`, async () => {
      const { repeats } = await survives(async (scene) => {
        for (let kills = 1; kills <= KILLS; kills++) {
          await published(20);
          await scene.service.end('SIGKILL');
          await expireLease();
          await scene.restart();
        }
        await published(20);
      });
      // Otherwise no kill has met an event whose note was missing.
      expect(repeats).toBeGreaterThan(0);
    });

    it(`a broker that is away for ${absence / 1_000} s, while creates go on`, async () => {
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
        const expected = [/^"events wait for /, /^"events go to /].map((line) => expect.stringMatching(line));
        expect(lines(scene)).toEqual(expected);
      });
    });

    it(`${BACKLOG} logs that are recorded while the broker is away`, async () => {
      await proxy.takeAway();
      const service = await start();
      await recordBacklog(url);
      await eventually(() => expect(lines({ service })).toHaveLength(1));
      await proxy.restore();
      const begun = performance.now();
      await allPublished();
      const took = ((performance.now() - begun) / 1_000).toFixed(1);
      process.stderr.write(`${BACKLOG} events waited for the broker: ${took} s after it was back\n`);
      expect((await expectAllEvents(service)).logs).toBe(BACKLOG);
    });

    it('a broker that takes no more', async () => {
      await survives(async (scene) => {
        await published(20);
        await broker.fill();
        await scene.writers.acknowledge(500);
        await eventually(() => expect(lines(scene)).toHaveLength(1));
        await broker.makeRoom();
        await published(20);
        await eventually(() => expect(lines(scene)).toHaveLength(2));
      });
    });

    it('a network that falls silent', async () => {
      await survives(async (scene) => {
        await published(20);
        proxy.silence();
        await scene.writers.acknowledge(500);
        await published(20);
        await eventually(() => expect(lines(scene)).toHaveLength(2));
      });
    });

    it('the SIGKILL of the one instance of two that publishes', async () => {
      await survives(async (scene) => {
        await published(20);
        const other = await start();
        await scene.service.end('SIGKILL');
        scene.writers.aim(other.port);
        await published(20);
        // At the end it is asked for the total.
        await scene.restart();
      });
    });
  });
}
