import { rabbitForEvents } from './support/event-brokers.js';
import { describeEvents } from './support/events-get-through.js';

describeEvents('RabbitMQ', { program: 'rabbitmq-server', open: rabbitForEvents, absence: 10_000 });
