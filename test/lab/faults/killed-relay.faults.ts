import { describe, expect, it } from '@jest/globals';
import { MemorySink } from '../../events/memory-sink.js';
import { migrateForRelay, startRelayHost } from '../../events/relay-host.js';
import { auditEvents } from './support/event-audit.js';
import { eventually } from '../eventually.js';
import { firstColumn, queryOnce } from '../../support/postgres-cluster.js';
import { useStruckServer, VICTIMS } from './support/strikes.js';

const PROJECTS = 4;
const LOGS = 20;

describe('a relay that takes over from one that has died', () => {
  const server = useStruckServer();

  it.each(VICTIMS)(
    'publishes every log, in order, where the %s is killed in any of its statements',
    async (victim) => {
      const url = await server.cluster.createDatabase();
      await migrateForRelay(url);
      const sink = new MemorySink();
      const record = () =>
        queryOnce(
          url,
          `insert into time_logs (id, project_id, duration, description, date)
           select overlay(gen_random_uuid()::text placing '7' from 15)::uuid,
                  ('0a000000-0000-4000-8000-00000000000' || n % ${PROJECTS})::uuid, 1, '', '2026-01-31'
             from generate_series(1, ${LOGS}) n`,
        );
      /** The logs that are not noted as published. */
      const rest = async () => {
        const sql = `select id from time_logs logs where not exists (
          select from time_log_relays where (position, time_log_relays.id) >= (logs.position, logs.id))`;
        return (await firstColumn(url, sql)).length;
      };
      const { proxy } = server;
      const takeOver = async () => {
        const struck = proxy.struck.length;
        await record();
        // As if the time of the one that has died were over.
        await queryOnce(url, 'update time_log_relays set leased_until = now()');
        const host = await startRelayHost(proxy.url(url), sink);
        try {
          // One whose server has died goes on by itself; one that is dead itself does not.
          const isDead = () => victim === 'client' && proxy.struck.length > struck;
          await eventually(async () => expect(isDead() || (await rest()) === 0).toBe(true));
          if (isDead()) throw new Error('dead');
        } finally {
          await host.close();
        }
      };
      await server.comeThrough(victim, takeOver, {
        isMeant: (sql) => /time_log_relays|time_log_events|^commit/i.test(sql),
      });
      for (const part of ['left join', 'insert into', 'time_log_events', 'update'])
        expect(proxy.struck.filter((step) => step.includes(part)).length).toBeGreaterThan(1);
      expect(await rest()).toBe(0);
      const deliveries = sink.kept.map((event) => ({ id: event.id, contentType: undefined, event }));
      expect(await auditEvents(url, deliveries)).toMatchObject({ missing: [], invented: [], disordered: [] });
    },
  );
});
