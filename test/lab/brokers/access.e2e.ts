import { writeFile } from 'node:fs/promises';
import { beforeAll, expect, it } from '@jest/globals';
import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { sinkOf } from '../../../src/event-relay/index.js';
import { eventually } from '../../support/eventually.js';
import { overTransport } from '../../messages/test-clients.js';
import { startMessageHost } from '../../messages/host.js';
import { CERTIFICATE, KEY, OTHER_CERTIFICATE } from '../../support/certificates.js';
import { useFolder } from '../../support/fixtures.js';
import { LOG } from '../../support/requests.js';
import { unusedPort } from '../../support/unused-port.js';
import { describeWith } from '../describe-with.js';
import { startNats, startRabbit } from './brokers.js';

const inFolder = useFolder('time-logs-tls-');

beforeAll(async () => {
  await writeFile(inFolder('ca'), CERTIFICATE);
  await writeFile(inFolder('key'), KEY, { mode: 0o600 });
  await writeFile(inFolder('other'), OTHER_CERTIFICATE);
});

/** Records by a client and a service with the permissions of docker/BROKERS.md, and opens the sink of events. */
async function expectServed(urlOf: (user: string) => string, client: ClientProxy): Promise<void> {
  const withCa = (user: string, name: string) =>
    `${urlOf(user)}?cafile=${encodeURIComponent(inFolder(name))}`;
  const host = await startMessageHost(withCa('logs', 'ca'));
  await eventually(() => expect(host.lines.join()).toMatch(/^messages: connected to/));
  const outcome = await overTransport(client).record({ accessToken: 'worker', timeLog: LOG });
  expect(outcome).toMatchObject({ answer: { success: true } });
  await client.close();
  await host.close();

  const sink = await sinkOf(withCa('events', 'ca'));
  await sink.connect();
  await sink.close();
  const refused = await sinkOf(withCa('events', 'other'));
  await expect(refused.connect()).rejects.toThrow('its certificate is not accepted');
}

describeWith('nats-server')('the documented permissions at NATS with TLS', () => {
  it('are enough for messages and events', async () => {
    const settings = `tls { cert_file: "${inFolder('ca')}", key_file: "${inFolder('key')}" }
      authorization { users: [
        { user: app, password: secret, permissions: { publish: "time-log.*.v1", subscribe: "_INBOX.app.>" } }
        { user: logs, password: secret, permissions: { publish: "_INBOX.>", subscribe: "time-log.*.v1 time-logs" } }
        { user: events, password: secret }
      ] }`;
    const broker = await startNats(undefined, inFolder(), settings);
    const client = ClientProxyFactory.create({
      transport: Transport.NATS,
      options: {
        servers: [broker.url.slice(7)],
        tls: { ca: CERTIFICATE, host: '127.0.0.1' },
        ...{ user: 'app', pass: 'secret', inboxPrefix: '_INBOX.app' },
      },
    });
    await expectServed((user) => broker.url.replace('nats://', `tls://${user}:secret@`), client);
    await broker.stop();
  });
});

describeWith('rabbitmq-server')('the documented permissions at RabbitMQ with TLS', () => {
  it('are enough for messages and events', async () => {
    const port = await unusedPort();
    const broker = await startRabbit(
      undefined,
      `listeners.ssl.default = 127.0.0.1:${port}
       ssl_options.certfile = ${inFolder('ca')}
       ssl_options.keyfile = ${inFolder('key')}`,
    );
    await broker.control('await_startup');
    const users = {
      app: ['', '^amq\\.default$', ''],
      logs: ['^time-logs$', '^amq\\.default$', '^time-logs$'],
      events: ['.*', '.*', '.*'],
    };
    for (const [user, permissions] of Object.entries(users)) {
      await broker.control('add_user', user, 'secret');
      await broker.control('set_permissions', user, ...permissions);
    }
    const client = ClientProxyFactory.create({
      transport: Transport.RMQ,
      options: {
        urls: [broker.url.replace('guest:guest', 'app:secret')],
        queue: 'time-logs',
        noAssert: true,
      },
    });
    await expectServed((user) => `amqps://${user}:secret@127.0.0.1:${port}`, client);
    await broker.stop();
  });
});
