import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { EventRelayMeasures } from '../../src/event-relay/event-relay.measures.js';
import { WebhookSink } from '../../src/event-relay/sinks/webhook.sink.js';
import { PrometheusMeter } from '../../src/metrics/time-log-metrics.js';
import { eventually } from '../support/eventually.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';
import { type RelayHost, renewed, startRelayHost } from './relay-host.js';
import {
  accept,
  answer,
  type Behaviour,
  cut,
  hang,
  KEYS,
  SECRETS,
  WebhookReceiver,
} from './webhook-receiver.js';

/** Milliseconds. */
const [SOON, HOUR] = [10, 3_600_000];
const TIMES = { first: SOON, longest: 40, response: 5_000 };

let database: TestDatabase;
let receiver: WebhookReceiver;
let host: RelayHost;
/** The reports of the sinks. */
let reports: string[];
beforeEach(async () => {
  database = await createMigratedDatabase();
  receiver = new WebhookReceiver();
  await receiver.start();
  reports = [];
});
afterEach(async () => {
  await host.close();
  await receiver.kill();
  await database.drop();
});

const start = async ({ times = TIMES, keys = KEYS.slice(0, 1), url = receiver.url } = {}) => {
  const sink = new WebhookSink(new URL(url), keys, (line) => void reports.push(line), times);
  host = await startRelayHost(database.url, sink);
  return sink;
};
const restart = async (...options: Parameters<typeof start>) => {
  await host.close();
  return start(...options);
};
const logOf = (projectId: string) => ({ projectId, duration: 1.5, description: 'é 😀', date: '2026-01-31' });
const record = (projectId: string = randomUUID()) => host.timeLogs.record(logOf(projectId));
const arrived = (events: number) =>
  eventually(() => expect(new Set(receiver.kept.map(({ id }) => id)).size).toBe(events));
const attemptsOf = (projectId: string) =>
  receiver.attempts.filter(({ event }) => event.subject === projectId);
const idsOf = (projectId: string) => [
  ...new Set(receiver.kept.filter(({ subject }) => subject === projectId).map(({ data }) => data.id)),
];
/** Does something to the requests of one project, and accepts the others. */
const to =
  (projectId: string, behave: Behaviour): Behaviour =>
  (exchange) =>
    exchange.event.subject === projectId ? behave(exchange) : accept(exchange);
const metrics = () => {
  const registry = new Registry();
  host.app.get(EventRelayMeasures).registerMetrics(new PrometheusMeter(registry));
  return registry.metrics();
};
describe('a webhook', () => {
  it('gets each event of the feed as a request of its own, in the order of its project', async () => {
    await start();
    const [project, other] = [randomUUID(), randomUUID()];
    const log = await record(project);
    await record(other);
    await host.timeLogs.correct(log.id, {
      projectId: project,
      duration: 2,
      description: '',
      date: '2026-01-31',
    });
    await host.timeLogs.delete(log.id);
    await eventually(() => expect(receiver.kept.at(-1)).toMatchObject({ type: 'time-log.deleted' }));
    for (const { event, headers } of receiver.attempts)
      expect(headers).toMatchObject({
        'content-type': 'application/cloudevents+json',
        'user-agent': 'time-logs',
        'webhook-id': event.id,
        'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
        'webhook-signature': expect.stringMatching(/^v1,[\w+/]{43}=$/),
      });
    expect(receiver.kept).toContainEqual(
      expect.objectContaining({ subject: other, source: '/api/v1/time-logs' }),
    );
    expect([receiver.paths, host.lines]).toEqual([new Set(['/']), []]);
  });

  it('goes on at another secret where it was, and signs with both secrets meanwhile', async () => {
    for (const keys of [KEYS.slice(0, 1), KEYS, KEYS.slice(1)]) {
      if (receiver.kept.length === 0) await start({ keys });
      else await restart({ keys });
      const { length } = receiver.kept;
      await record();
      await arrived(length + 1);
    }
    expect(receiver.attempts.map(({ secrets }) => secrets)).toEqual([[SECRETS[0]], SECRETS, [SECRETS[1]]]);
  });

  it.each<[string, Behaviour, string]>([
    ['answers 500', answer(500), 'the receiver answered 500 to the event'],
    ['answers a redirect', answer(308, { location: '/elsewhere' }), 'the receiver answered 308 to the event'],
    ['cuts the connection', cut, 'the receiver did not answer the event'],
    ['is too slow', hang, 'the receiver did not answer the event'],
  ])(
    'holds up all later events while it %s, and the log and a metric name the event',
    async (_what, behave, reason) => {
      const { name } = await start({ times: { ...TIMES, response: 500 } });
      const refused = randomUUID();
      receiver.behave = to(refused, behave);
      const log = await record(refused);
      await eventually(() => expect(attemptsOf(refused)).not.toEqual([]));
      const later = [await record(), await record(), await record(refused)];
      await eventually(() => expect(attemptsOf(refused).length).toBeGreaterThan(2));
      const [{ event }] = attemptsOf(refused) as [(typeof receiver.attempts)[number]];
      expect(new Set(receiver.attempts.map(({ event: { id } }) => id))).toEqual(new Set([event.id]));
      await eventually(async () =>
        expect(await metrics()).toContain(`\ntime_log_event_refused{event="${event.id}"} 1\n`),
      );
      receiver.behave = accept;
      await arrived(4);
      expect([receiver.kept[0]!.data.id, receiver.paths]).toEqual([log.id, new Set(['/'])]);
      expect(idsOf(refused)).toEqual([log.id, later[2]!.id]);
      await eventually(() =>
        expect(host.lines).toEqual([
          expect.stringContaining(`events wait for ${name}: ${reason} ${event.id} of the project ${refused}`),
          `events go to ${name} again`,
        ]),
      );
      expect(await metrics()).not.toMatch(/^time_log_event_refused/m);
    },
  );

  it('is obeyed as to when it wants an event again', async () => {
    await start({ times: { ...TIMES, longest: HOUR } });
    receiver.behave = answer(503, { 'retry-after': '3600' });
    await record();
    await eventually(() => expect(receiver.attempts).toHaveLength(1));
    for (let renewal = 0; renewal < 3; renewal++) await renewed(database.url);
    expect(receiver.attempts).toHaveLength(1);
  });

  it('that is gone gets nothing more until a restart, and the instance keeps its lease', async () => {
    const { name } = await start();
    const underWay: Parameters<Behaviour>[0][] = [];
    receiver.behave = (exchange) => {
      if (underWay.push(exchange) === 4) underWay.forEach(answer(410));
    };
    await host.timeLogs.recordAll(Array.from({ length: 4 }, () => logOf(randomUUID())));
    await eventually(() => expect(reports).toHaveLength(1));
    for (let renewal = 0; renewal < 3; renewal++) {
      await record();
      await renewed(database.url);
    }
    expect(await metrics()).toContain('\ntime_log_event_relay_stopped 1\n');
    expect([receiver.attempts.length, host.lines, reports]).toEqual([
      4,
      [],
      [
        `${name} wants no more events (it answered 410): none is published until this instance is restarted; set EVENTS_URL to another webhook, or remove it`,
      ],
    ]);
    receiver.behave = accept;
    await restart();
    await arrived(7);
  });

  it('is not sent anything if its certificate is not accepted', async () => {
    await receiver.kill();
    receiver = new WebhookReceiver('https');
    await receiver.start();
    await start();
    await record();
    await eventually(() =>
      expect(host.lines).toEqual([
        // Node 24 adds advice of its own to the reason.
        expect.stringMatching(
          /^events wait for .*: the receiver did not answer the event \S+ of the project \S+ \(its certificate is not accepted: self-signed certificate.*; use the host of the certificate, and name its CA in NODE_EXTRA_CA_CERTS\)$/,
        ),
      ]),
    );
    expect(receiver.paths).toEqual(new Set());
  });
});
