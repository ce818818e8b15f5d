import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Inject, Injectable, Module } from '@nestjs/common';
import { EventRelayModule, type EventSink } from '../../src/event-relay/index.js';
import type { SinkProvider } from '../../src/event-relay/event-relay.module.js';
import type { CloudEvent } from '../../src/feed/index.js';
import { TimeLogModule } from '../../src/embedding/index.js';
import { TimeLogService } from '../../src/time-log/index.js';
import { eventually } from '../support/eventually.js';
import { hostDataSource, useHosts } from '../host/embedded.js';
import { LOG } from '../support/requests.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { MemorySink } from './memory-sink.js';
import { migrateForRelay } from './relay-host.js';

/** A dependency of a sink of the host. */
@Injectable()
class Outbox {
  readonly events: CloudEvent[] = [];
}

@Module({ providers: [Outbox], exports: [Outbox] })
class OutboxModule {}

@Injectable()
class OutboxSink implements EventSink {
  readonly name = 'outbox';
  readonly connect = () => Promise.resolve();
  readonly close = () => Promise.resolve();

  constructor(@Inject(Outbox) private readonly outbox: Outbox) {}

  async publish(event: CloudEvent): Promise<void> {
    this.outbox.events.push(event);
  }
}

const hosts = useHosts();
const caller = () => ({ scopes: ['time-logs:read'] });
beforeAll(() => migrateForRelay(hosts.database.url));
beforeEach(async () => {
  await hosts.close();
  await queryOnce(hosts.database.url, 'truncate time_logs, time_log_relays');
});

async function start(
  sink: SinkProvider,
  source?: string,
  options?: Parameters<typeof EventRelayModule.over>[2],
) {
  const timeLogs = TimeLogModule.forRoot({ source, dataSource: 'work', caller });
  const relay = EventRelayModule.over(timeLogs, sink, options);
  await hosts.serve([hostDataSource(hosts.database.url, 'work'), timeLogs, relay]);
  await hosts.app.get(TimeLogService).record(LOG);
}

describe('a relay of a host', () => {
  it('fills a sink that injects what the host has, with events of the source that the feed names', async () => {
    const source = 'urn:host:time-logs';
    await start({ useClass: OutboxSink }, source, { dataSource: 'work', imports: [OutboxModule] });
    const { events } = hosts.app.get(Outbox);
    await eventually(() => expect(events).toHaveLength(1));
    expect(events).toMatchObject([{ source, data: LOG }]);
    expect((await hosts.send('GET', '/api/v1/time-logs/events'))[1]).toEqual(events);
  });

  it('fills a sink that a function makes, from the source of all hosts', async () => {
    const sink = new MemorySink();
    await start({ useFactory: async () => sink }, undefined, { dataSource: 'work' });
    await eventually(() => expect(sink.kept).toHaveLength(1));
    expect(sink.kept).toMatchObject([{ source: '/api/v1/time-logs', data: LOG }]);
  });
});
