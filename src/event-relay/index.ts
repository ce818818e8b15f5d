import type { DynamicModule, Type } from '@nestjs/common';
import { EventRelayModule } from './event-relay.module.js';
import { EventRelayNote } from './event-relay-note.entity.js';
import { CreateTimeLogRelays1764288000000 } from './migrations/1764288000000-create-time-log-relays.js';
import { sinkOf } from './sink-of.js';

export { EventRelayModule } from './event-relay.module.js';
export { EventSink } from './event-sink.js';
export { sinkOf } from './sink-of.js';

/** The entity that a DataSource needs to note how far the relay has got. */
export const eventRelayEntities = [EventRelayNote];
/** The migration that makes its table. */
export const eventRelayMigrations = [CreateTimeLogRelays1764288000000];

/** The relay, as the service binds it. The table is there without it too. */
export const eventRelay = {
  bind: () => undefined,
  over: (timeLogs: Type | DynamicModule, url: string) => EventRelayModule.over(timeLogs, () => sinkOf(url)),
  entities: eventRelayEntities,
  migrations: eventRelayMigrations,
};
