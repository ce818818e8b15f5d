import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import { Webhook } from 'standardwebhooks';
import { EventRelayMeasures } from '../../libs/event-relay/src/event-relay.measures.js';
import { WebhookSink } from '../../libs/event-relay/src/sinks/webhook.sink.js';
import type { CloudEvent } from '../../src/feed/index.js';
import { eventually } from '../support/eventually.js';
import { useFolder } from '../support/fixtures.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';
import { type RelayHost, startRelayHost } from './relay-host.js';
import {
  accept,
  answer,
  answerForever,
  type Behaviour,
  cut,
  hang,
  KEYS,
  SECRETS,
  WebhookReceiver,
} from './webhook-receiver.js';

/** Milliseconds. */
const [SOON, HOUR] = [10, 3_600_000];
const TIMES = { retry: SOON, longestRetry: 40, response: 5_000 };

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
const record = (projectId: string = randomUUID()) =>
  host.timeLogs.record({ projectId, duration: 1.5, description: 'é 😀', date: '2026-01-31' });
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
const leasedUntil = async () => {
  const [row] = await queryOnce<{ until: string }>(
    database.url,
    'select leased_until::text as until from time_log_relays',
  );
  return row?.until;
};

describe('a webhook', () => {
  const inFolder = useFolder('webhook-');

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
    ['answers 500', answer(500), 'the receiver answered 500 to the event ID'],
    [
      'answers a redirect',
      answer(308, { location: '/elsewhere' }),
      'the receiver answered 308 to the event ID',
    ],
    [
      'asks for the authentication of a proxy',
      answer(407),
      'the receiver did not answer the event ID (it asks for the authentication of a proxy)',
    ],
    [
      'answers with headers that are too large',
      answer(500, { x: 'x'.repeat(20_000) }),
      'the receiver did not answer the event ID (Headers Overflow Error)',
    ],
    ['cuts the connection', cut, 'the receiver did not answer the event ID (other side closed)'],
    ['is too slow', hang, 'the receiver did not answer the event ID (no response within 500 ms)'],
    [
      'switches protocols',
      ({ request: { socket } }) =>
        void socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
      'the receiver did not answer the event ID (bad upgrade)',
    ],
  ])('holds up only a project for which it %s', async (_what, behave, reason) => {
    const { name } = await start({ times: { ...TIMES, response: 500 } });
    const refused = randomUUID();
    receiver.behave = to(refused, behave);
    const logs = [await record(refused), await record(refused)];
    for (let round = 0; round < 3; round++) {
      const others = Array.from({ length: 8 }, () => randomUUID());
      await Promise.all(others.map((project) => record(project)));
      await eventually(() => expect(others.flatMap(idsOf)).toHaveLength(8));
    }
    await eventually(() => expect(attemptsOf(refused).length).toBeGreaterThan(2));
    const ids = new Set(attemptsOf(refused).map(({ event }) => event.id));
    expect([ids.size, receiver.paths]).toEqual([1, new Set(['/'])]);
    receiver.behave = accept;
    await eventually(() => expect(idsOf(refused)).toEqual(logs.map(({ id }) => id)));
    const text = reason.replace('ID', [...ids][0]!);
    await eventually(() =>
      expect(host.lines).toEqual([
        expect.stringContaining(`events wait for ${name}: ${text}`),
        `events go to ${name} again`,
      ]),
    );
  });

  it('is obeyed as to when it wants an event again', async () => {
    await start({ times: { ...TIMES, longestRetry: HOUR } });
    const refused = randomUUID();
    receiver.behave = to(refused, answer(503, { 'retry-after': '3600' }));
    await record(refused);
    for (let events = 1; events <= 20; events++) {
      await record();
      await arrived(events);
    }
    expect(attemptsOf(refused).length).toBe(1);
  });

  it('is obeyed no longer than the longest pause', async () => {
    await start();
    receiver.behave = answer(503, { 'retry-after': '3600' });
    await record();
    await eventually(() => expect(receiver.attempts.length).toBeGreaterThan(2));
  });

  it('may be received by the lines of docker/BROKERS.md, which refuse a forged event', async () => {
    const page = await readFile(join(import.meta.dirname, '../../docker/BROKERS.md'), 'utf8');
    const [, lines] = /^```js\n(app\.post.+?)^```/ms.exec(page)!;
    const app = express();
    const stored: CloudEvent[] = [];
    const store = (event: CloudEvent) => stored.push(event);
    const module = inFolder('receiver.mjs');
    await writeFile(module, `export default (app, express, Webhook, process, store) => {\n${lines}};\n`);
    const { default: receive } = (await import(module)) as { default: (...names: unknown[]) => void };
    receive(app, express, Webhook, { env: { EVENTS_SECRET: SECRETS[0] } }, store);
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/time-logs`;
    await start({ url });
    const { id } = await record();
    await eventually(() => expect(stored.map(({ data }) => data.id)).toEqual([id]));
    const headers = {
      'content-type': 'application/cloudevents+json',
      'webhook-id': '1',
      'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
      'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
    };
    const { status } = await fetch(url, { method: 'POST', headers, body: '{}' });
    server.close();
    expect([status, stored.length, host.lines]).toEqual([401, 1, []]);
  });

  it('acknowledges with the status, whatever the body', async () => {
    await start();
    receiver.behave = answerForever;
    const project = randomUUID();
    const logs = [await record(project), await record(project)];
    await arrived(2);
    expect([idsOf(project), receiver.attempts.length]).toEqual([logs.map(({ id }) => id), 2]);
  });

  it('that is gone gets nothing more until a restart, and the instance keeps its lease', async () => {
    const { name } = await start();
    const underWay: Parameters<Behaviour>[0][] = [];
    receiver.behave = (exchange) => {
      if (underWay.push(exchange) === 4) underWay.forEach(answer(410));
    };
    await Promise.all(Array.from({ length: 4 }, () => record()));
    await eventually(() => expect(reports).toHaveLength(1));
    for (let renewal = 0; renewal < 3; renewal++) {
      await record();
      const until = await leasedUntil();
      await eventually(async () => expect(await leasedUntil()).not.toBe(until));
    }
    const gauges: [string, number][] = [];
    host.app.get(EventRelayMeasures).registerMetrics({
      gauge: (metric: string, _help: string, read: () => number) => void gauges.push([metric, read()]),
    } as never);
    expect(gauges).toContainEqual(['time_log_event_relay_stopped', 1]);
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

  it('is not sent anything if its port is one that fetch blocks', async () => {
    const { name } = await start({ url: 'http://127.0.0.1:6667' });
    await record();
    await eventually(() =>
      expect(host.lines).toEqual([
        `events wait for ${name}: the receiver is out of reach (its port is blocked by fetch: use another)`,
      ]),
    );
  });

  it('is not sent anything if its certificate is not accepted', async () => {
    await receiver.kill();
    receiver = new WebhookReceiver('https');
    await receiver.start();
    const { name } = await start();
    await record();
    await eventually(() =>
      expect(host.lines).toEqual([
        `events wait for ${name}: the receiver is out of reach (its certificate is not accepted: self-signed certificate; use the host of the certificate, and name its CA in NODE_EXTRA_CA_CERTS)`,
      ]),
    );
    expect(receiver.paths).toEqual(new Set());
  });
});
