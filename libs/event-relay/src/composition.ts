import type { DynamicModule, Type } from '@nestjs/common';
import { describeConnection } from '../../messages/src/index.js';
import { timeLogs } from '../../../src/time-log/composition.js';
import { EventRelayModule } from './event-relay.module.js';
import { eventRelayEntities, eventRelayMigrations } from './index.js';
import { sinkOf } from './sink-of.js';

interface Settings {
  readonly eventsUrl?: string | undefined;
  readonly eventsSecret?: string | undefined;
}

/** The relay, as the service binds it. Its table exists even if the relay is off. */
export const eventRelay = {
  dependsOn: timeLogs,
  bind: ({ eventsUrl, eventsSecret }: Settings, logs: Type | DynamicModule) =>
    eventsUrl === undefined
      ? undefined
      : EventRelayModule.over(logs, () => sinkOf(eventsUrl, { secret: eventsSecret })),
  describeConnection: ({ eventsUrl }: Settings) => describeConnection('events', 'EVENTS_URL', eventsUrl),
  entities: eventRelayEntities,
  migrations: eventRelayMigrations,
};
