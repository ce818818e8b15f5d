import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { WebhookSink } from '../../../libs/event-relay/src/sinks/webhook.sink.js';
import { migrateForRelay, startRelayHost } from '../../events/relay-host.js';
import { accept, answer, hang, KEYS, WebhookReceiver } from '../../events/webhook-receiver.js';
import { isAll, isFull } from '../../support/extent.js';
import { eventually } from '../eventually.js';
import { auditEvents } from './support/event-audit.js';
import { webhookForEvents } from './support/event-brokers.js';
import { BACKLOG, describeEvents, recordBacklog } from './support/events-get-through.js';
import { useCluster } from './support/use-cluster.js';

describeEvents('a webhook', {
  program: 'node',
  open: webhookForEvents,
  absence: isAll ? 60_000 : 10_000,
});

/** The times of the service, divided by 100. Only the timeout is longer, for a busy machine. */
const TIMES = { retry: 10, longestRetry: 3_000, response: 2_000 };
const HOUR = isFull ? 36_000 : 3_600;

describe('a webhook that is away for an hour, in a hundredth of the time', () => {
  const postgres = useCluster();

  it(`gets ${BACKLOG} events that have waited`, async () => {
    const url = await postgres.createDatabase();
    await migrateForRelay(url);
    const receiver = new WebhookReceiver();
    await receiver.start();
    const sink = new WebhookSink(new URL(receiver.url), KEYS, () => undefined, TIMES);
    const host = await startRelayHost(url, sink);
    try {
      await receiver.kill();
      await recordBacklog(url);
      await delay(HOUR / 3);
      receiver.behave = hang;
      await receiver.start();
      await delay(HOUR / 3);
      receiver.behave = answer(503, { 'retry-after': '1' });
      await delay(HOUR / 3);
      expect([receiver.kept, host.lines]).toEqual([[], [expect.stringMatching(/^events wait for /)]]);
      process.stderr.write(`${receiver.attempts.length} requests while it was away\n`);
      receiver.behave = accept;
      for (let kept = -1; kept < BACKLOG; kept = receiver.kept.length)
        await eventually(() => expect(receiver.kept.length).toBeGreaterThan(kept));
      await eventually(() => expect(new Set(receiver.kept.map(({ id }) => id)).size).toBe(BACKLOG));
      const deliveries = receiver.kept.map((event) => ({ id: event.id, contentType: undefined, event }));
      expect(await auditEvents(url, deliveries)).toMatchObject({
        logs: BACKLOG,
        ...{ missing: [], invented: [], disordered: [], outdated: 0 },
      });
    } finally {
      await host.close();
      await receiver.kill();
    }
  });
});
