import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { eventually } from '../../../libs/host-kit/src/contract/eventually.js';
import { overTransport } from '../../messages/doors.js';
import { startMessageHost } from '../../messages/host.js';
import { LOG } from '../../support/requests.js';
import { startNats, startRabbit } from './brokers.js';
import { describeWith } from '../describe-with.js';

/** Records by a client with the permissions of docker/BROKERS.md, at a service that has its own. */
async function expectServed(messagesUrl: string, client: ClientProxy): Promise<void> {
  const host = await startMessageHost(messagesUrl);
  await eventually(() => expect(host.lines.join()).toMatch(/^messages: connected to/));
  const outcome = await overTransport(client).record({ accessToken: 'worker', timeLog: LOG });
  expect(outcome).toMatchObject({ answer: { success: true } });
  await client.close();
  await host.close();
}

describeWith('nats-server')('the documented permissions at NATS', () => {
  it('are enough', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'nats-'));
    const settings = `authorization { users: [
      { user: app, password: a, permissions: { publish: "time-log.*.v1", subscribe: "_INBOX.app.>" } }
      { user: logs, password: l, permissions: { publish: "_INBOX.>", subscribe: "time-log.*.v1 time-logs" } }
    ] }`;
    const broker = await startNats(undefined, directory, settings);
    const client = ClientProxyFactory.create({
      transport: Transport.NATS,
      options: { servers: [broker.url.slice(7)], user: 'app', pass: 'a', inboxPrefix: '_INBOX.app' },
    });
    await expectServed(broker.url.replace('//', '//logs:l@'), client);
    await broker.stop();
    await rm(directory, { recursive: true });
  });
});

describeWith('rabbitmq-server')('the documented permissions at RabbitMQ', () => {
  it('are enough', async () => {
    const broker = await startRabbit();
    await broker.control('await_startup');
    const users = {
      app: ['', '^amq\\.default$', ''],
      logs: ['^time-logs$', '^amq\\.default$', '^time-logs$'],
    };
    for (const [user, permissions] of Object.entries(users)) {
      await broker.control('add_user', user, 'secret');
      await broker.control('set_permissions', user, ...permissions);
    }
    const urlOf = (user: string) => broker.url.replace('guest:guest', `${user}:secret`);
    const client = ClientProxyFactory.create({
      transport: Transport.RMQ,
      options: { urls: [urlOf('app')], queue: 'time-logs', noAssert: true },
    });
    await expectServed(urlOf('logs'), client);
    await broker.stop();
  });
});
