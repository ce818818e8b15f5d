import { writeFile } from 'node:fs/promises';
import { beforeAll, expect, it } from '@jest/globals';
import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { sinkOf } from '../../../libs/event-relay/src/index.js';
import { eventually } from '../../../libs/host-kit/src/contract/eventually.js';
import { overTransport } from '../../messages/doors.js';
import { startMessageHost } from '../../messages/host.js';
import { CERTIFICATE, KEY, OTHER_CERTIFICATE } from '../../support/certificates.js';
import { useFolder } from '../../support/fixtures.js';
import { LOG } from '../../support/requests.js';
import { unusedPort } from '../../support/unused-port.js';
import { describeWith } from '../describe-with.js';
import { startNats, startRabbit } from './brokers.js';

const inFolder = useFolder('time-logs-tls-');
const withCa = (url: string, name: string) => `${url}?cafile=${encodeURIComponent(inFolder(name))}`;

beforeAll(async () => {
  await writeFile(inFolder('ca'), CERTIFICATE);
  await writeFile(inFolder('key'), KEY, { mode: 0o600 });
  await writeFile(inFolder('other'), OTHER_CERTIFICATE);
});

/** Records by a message and opens the sink of events, with TLS to a broker; not with another CA. */
async function expectServed(url: string, client: ClientProxy): Promise<void> {
  const host = await startMessageHost(withCa(url, 'ca'));
  await eventually(() => expect(host.lines.join()).toMatch(/^messages: connected to/));
  const outcome = await overTransport(client).record({ accessToken: 'worker', timeLog: LOG });
  expect(outcome).toMatchObject({ answer: { success: true } });
  await client.close();
  await host.close();

  const sink = await sinkOf(withCa(url, 'ca'));
  await sink.connect();
  await sink.close();

  const refused = await sinkOf(withCa(url, 'other'));
  await expect(refused.connect()).rejects.toThrow('its certificate is not accepted');
}

describeWith('nats-server')('NATS with TLS', () => {
  it('takes messages and events', async () => {
    const settings = `tls { cert_file: "${inFolder('ca')}", key_file: "${inFolder('key')}" }`;
    const broker = await startNats(undefined, inFolder(), settings);
    const tls = { ca: CERTIFICATE, host: '127.0.0.1' };
    const client = ClientProxyFactory.create({
      transport: Transport.NATS,
      options: { servers: [broker.url.slice(7)], tls },
    });
    await expectServed(broker.url.replace('nats:', 'tls:'), client);
    await broker.stop();
  });
});

describeWith('rabbitmq-server')('RabbitMQ with TLS', () => {
  it('takes messages and events', async () => {
    const port = await unusedPort();
    const broker = await startRabbit(
      undefined,
      `listeners.ssl.default = 127.0.0.1:${port}
       ssl_options.certfile = ${inFolder('ca')}
       ssl_options.keyfile = ${inFolder('key')}`,
    );
    await broker.control('await_startup');
    const client = ClientProxyFactory.create({
      transport: Transport.RMQ,
      options: { urls: [broker.url], queue: 'time-logs' },
    });
    await expectServed(`amqps://guest:guest@127.0.0.1:${port}`, client);
    await broker.stop();
  });
});
