import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sinkOf } from '../../src/event-relay/index.js';
import { NatsServer } from '../../src/messages/transports/nats.server.js';
import { RabbitServer } from '../../src/messages/transports/rabbitmq.server.js';
import { eventually } from '../support/eventually.js';
import { CERTIFICATE, KEY, OTHER_CERTIFICATE } from '../support/certificates.js';
import { useFolder } from '../support/fixtures.js';

const infoOf = (members: object) =>
  `INFO ${JSON.stringify({ version: '2.10.0', proto: 1, max_payload: 1_048_576, ...members })}\r\n`;
const OPTIONS = {
  queue: 'q',
  bodyLimit: 65_536,
  maxInFlight: 1,
  logger: { log: () => undefined, error: () => undefined },
};

const inFolder = useFolder('time-logs-tls-');
const withCa = (name: string) => `?cafile=${encodeURIComponent(inFolder(name))}`;
let received = '';
let end = () => undefined as unknown;
beforeAll(async () => {
  await writeFile(inFolder('ca'), CERTIFICATE);
  await writeFile(inFolder('other'), OTHER_CERTIFICATE);
});
afterEach(() => {
  received = '';
  end();
});

/** Listens on loopback. Returns the port. */
async function listen(server: ReturnType<typeof createTcpServer>): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  end = () => {
    for (const socket of sockets) socket.destroy();
    return server.close();
  };
  return (server.address() as AddressInfo).port;
}

/** Begins TLS as a NATS server does, and answers each PING. */
function serveNats(socket: Socket, members: object = {}): TLSSocket {
  socket.write(infoOf({ tls_required: true, ...members }));
  const secure = new TLSSocket(socket, { isServer: true, cert: CERTIFICATE, key: KEY });
  secure.on('error', () => undefined);
  secure.on('data', (data) => {
    received += String(data);
    if (String(data).includes('PING')) secure.write('PONG\r\n');
    // A request to JetStream, which this is not.
    if (String(data).includes('PUB')) secure.destroy();
  });
  return secure;
}

const listenAsNats = () => listen(createTcpServer((socket) => void serveNats(socket)));

/** A server with TLS that ends a connection after its first bytes, before the handshake of AMQP. */
const listenAsRabbit = () =>
  listen(
    createTlsServer({ cert: CERTIFICATE, key: KEY }, (socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (data) => {
        received += String(data);
        socket.destroy();
      });
    }),
  );

/** Returns the reason why messages do not arrive by a NATS server. */
async function natsOutage(url: string, beforeConnecting?: () => Promise<void>): Promise<string> {
  const server = new NatsServer(new URL(url), OPTIONS);
  await beforeConnecting?.();
  return server.findOutageReason();
}

/** Returns the reason why messages do not arrive by RabbitMQ. */
async function rabbitOutage(url: string, beforeConnecting?: () => Promise<void>): Promise<string> {
  const server = new RabbitServer(new URL(url), OPTIONS);
  await beforeConnecting?.();
  await server.listen(() => undefined);
  await eventually(async () => expect(await server.findOutageReason()).not.toBe('unknown'));
  await server.close();
  return server.findOutageReason();
}

/** Returns the reason why events do not arrive. */
async function eventsOutage(url: string, beforeConnecting?: () => Promise<void>): Promise<string> {
  const sink = await sinkOf(url);
  await beforeConnecting?.();
  try {
    await sink.connect();
    return '';
  } catch (error) {
    return (error as Error).message;
  } finally {
    await sink.close();
  }
}

describe.each([
  ['tls', 'messages', listenAsNats, natsOutage, 'CONNECT'],
  ['tls', 'events', listenAsNats, eventsOutage, 'CONNECT'],
  ['amqps', 'messages', listenAsRabbit, rabbitOutage, 'AMQP'],
  ['amqps', 'events', listenAsRabbit, eventsOutage, 'AMQP'],
] as const)('%s:// for %s', (protocol, _purpose, open, outageOf, greeting) => {
  const urlOf = (port: number, query = '', host = '127.0.0.1') =>
    `${protocol}://ada:sesame@${host}:${port}${query}`;

  it('sends nothing to a server whose certificate is of another CA or host, and greets the right one', async () => {
    const port = await open();
    for (const query of [withCa('other'), '']) {
      const reason = await outageOf(urlOf(port, query));
      expect(reason).toMatch(
        /its certificate is not accepted: [^\n]*; use the host of the certificate, and name its CA in cafile/,
      );
      expect(reason).not.toContain('sesame');
    }
    expect(await outageOf(urlOf(port, withCa('ca'), 'localhost'))).toContain('certificate is not accepted');
    expect(received).toBe('');
    expect(await outageOf(urlOf(port, withCa('ca')))).not.toContain('certificate');
    expect(received).toContain(greeting);
  });

  it('sends nothing to a server without TLS', async () => {
    const port = await listen(
      createTcpServer((socket) => {
        socket.on('data', (data) => (received += String(data)));
        if (protocol === 'tls') socket.write(infoOf({}));
        else socket.write('AMQP\0\0\x09\x01');
      }),
    );
    expect(await outageOf(urlOf(port))).toMatch(/no TLS on this port|server does not support 'tls'/);
    expect(received).not.toMatch(/CONNECT|^AMQP|sesame/);
  });
});

it('no longer tries to connect to a NATS server that it has never reached when it ends', async () => {
  let attempts = 0;
  const port = await listen(createTcpServer((socket) => void (attempts++, socket.destroy())));
  const server = new NatsServer(new URL(`nats://127.0.0.1:${port}`), OPTIONS);
  const listening = new Promise((resolve) => void server.listen(resolve));
  await eventually(() => expect(attempts).toBeGreaterThan(0));
  await server.stopReceiving();
  expect(await listening).toBeInstanceOf(Error);
});
