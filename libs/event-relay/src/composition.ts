import type { DynamicModule, Type } from '@nestjs/common';
import { connectionOf } from '../../messages/src/index.js';
import { timeLogs } from '../../../src/time-log/composition.js';
import { EventRelayModule } from './event-relay.module.js';
import { eventRelayEntities, eventRelayMigrations } from './index.js';
import { sinkOf } from './sink-of.js';

interface Settings {
  readonly eventsUrl?: string | undefined;
}

/** The relay, as the service binds it. The table is there without it too. */
export const eventRelay = {
  over: timeLogs,
  bind: ({ eventsUrl }: Settings, logs: Type | DynamicModule) =>
    eventsUrl === undefined ? undefined : EventRelayModule.over(logs, () => sinkOf(eventsUrl)),
  describeConnection: ({ eventsUrl }: Settings) => connectionOf('events', 'EVENTS_URL', eventsUrl),
  entities: eventRelayEntities,
  migrations: eventRelayMigrations,
};
