import { natsForEvents } from './support/event-brokers.js';
import { describeEvents } from './support/events-get-through.js';
import { isAll } from '../../support/extent.js';

describeEvents('NATS JetStream', {
  program: 'nats-server',
  open: natsForEvents,
  absence: isAll ? 60_000 : 10_000,
});
