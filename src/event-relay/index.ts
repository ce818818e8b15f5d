import { RelayCheckpoint } from './relay-lease.js';
import { CreateTimeLogRelays1764288000000 } from './migrations/1764288000000-create-time-log-relays.js';

export { EventRelayModule } from './event-relay.module.js';
export { EventSink } from './event-sink.js';
export { sinkOf } from './sink-of.js';

/** The entity in which the relay stores its progress. */
export const eventRelayEntities = [RelayCheckpoint];
/** The migration that creates its table. */
export const eventRelayMigrations = [CreateTimeLogRelays1764288000000];
