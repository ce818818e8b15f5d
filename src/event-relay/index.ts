import type { DynamicModule, Type } from '@nestjs/common';
import { timeLogs } from '../time-log/index.js';
import { EventRelayModule } from './event-relay.module.js';
import { RelayCheckpoint } from './relay-checkpoint.entity.js';
import { CreateTimeLogRelays1764288000000 } from './migrations/1764288000000-create-time-log-relays.js';
import { sinkOf } from './sink-of.js';

export { EventRelayModule, type EventRelayOptions, type SinkOfHost } from './event-relay.module.js';
export { EventSink } from './event-sink.js';
export { sinkOf } from './sink-of.js';

/** The entity that a DataSource needs to note how far the relay has got. */
export const eventRelayEntities = [RelayCheckpoint];
/** The migration that makes its table. */
export const eventRelayMigrations = [CreateTimeLogRelays1764288000000];

interface Settings {
  readonly eventsUrl?: string | undefined;
}

/** The relay, as the service binds it. The table is there without it too. */
export const eventRelay = {
  over: timeLogs,
  bind: ({ eventsUrl }: Settings, logs: Type | DynamicModule) =>
    eventsUrl === undefined ? undefined : EventRelayModule.over(logs, () => sinkOf(eventsUrl)),
  entities: eventRelayEntities,
  migrations: eventRelayMigrations,
};
