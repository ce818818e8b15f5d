import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { Agent, request } from 'node:https';
import { type AddressInfo, connect as connectPlainly } from 'node:net';
import { json, text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { useFolder } from '../../support/fixtures.js';
import { refusal } from '../../support/requests.js';
import { unusedPort } from '../../support/unused-port.js';
import { startBalancer } from './balancer.js';
import { Certificates, type Identity } from './certificates.js';
import { describeWith } from '../describe-with.js';
import type { Daemon } from './daemon.js';

const KEY = { 'idempotency-key': 'a-key' };
const UNAVAILABLE = refusal('SERVICE_UNAVAILABLE', 'the service is unavailable at the moment; retry later');

/** Instances that can be lost while they have a request. */
class Instances {
  readonly servers: Server[] = [];
  /** How many of the next requests an instance is lost under. */
  losses = 0;
  /** Whether they answer. */
  areFrozen = false;
  /** Requests that have arrived. */
  arrived = 0;

  async listen(): Promise<number> {
    const server = createServer((incoming, answer) => {
      if (incoming.url === '/readyz') return void answer.end('OK');
      incoming.resume().on('end', () => {
        this.arrived++;
        if (this.losses-- > 0) incoming.socket.resetAndDestroy();
        else if (!this.areFrozen) answer.end('{}');
      });
    });
    this.servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  }

  close(): void {
    for (const server of this.servers) server.close().closeAllConnections();
  }
}

describeWith('haproxy')('the balancer', () => {
  const inFolder = useFolder('balancer-');
  const instances = new Instances();
  let client: Identity;
  let balancer: Daemon;
  let port: number;
  /** One connection, which it keeps. */
  let agent: Agent;

  const send = (method: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; retryAfter: string | undefined; body: unknown }>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, method, path: '/api/v1/time-logs', agent };
      request({ ...options, headers }, (answer: IncomingMessage) => {
        json(answer).then(
          (body) => resolve({ status: answer.statusCode!, retryAfter: answer.headers['retry-after'], body }),
          reject,
        );
      })
        .on('error', reject)
        .end(method === 'POST' || method === 'PUT' ? '{}' : undefined);
    });

  beforeAll(async () => {
    const certificates = await Certificates.make(inFolder('certificates'));
    client = await certificates.identity();
    port = await unusedPort();
    // Nobody asks for the databases.
    const nowhere = async () => [await unusedPort(), await unusedPort()] as const;
    balancer = startBalancer({
      address: '127.0.0.1',
      certificates: certificates.of('balancer-1'),
      requests: port,
      figures: await unusedPort(),
      primary: await unusedPort(),
      standby: await unusedPort(),
      instances: await Promise.all(Array.from({ length: 4 }, () => instances.listen())),
      reader: await instances.listen(),
      postgres: [await nowhere(), await nowhere()],
    });
    agent = new Agent({ keepAlive: true, ...client });
    await eventually(async () => expect((await send('POST')).status).toBe(200)).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${balancer.output}`);
    });
    agent.destroy();
  });
  afterAll(async () => {
    await balancer.end();
    instances.close();
  });
  beforeEach(() => void (agent = new Agent({ keepAlive: true, maxSockets: 1, ...client })));
  afterEach(() => agent.destroy());

  it.each([
    ['POST without a key', 'the first request', [], {}],
    ['POST without a key', 'a request after others', ['POST', 'GET', 'POST'], {}],
    ['PUT', 'a request after others', ['GET', 'PUT'], {}],
    ['DELETE', 'a request after others', ['GET'], {}],
    ['DELETE with a key', 'the first request', [], KEY],
  ])(
    'answers 503 to a %s, %s of its connection, whose instance is lost',
    async (what, _which, earlier, headers) => {
      const [method] = what.split(' ');
      for (const other of earlier) await send(other);
      Object.assign(instances, { losses: 1, arrived: 0 });
      expect(await send(method!, headers)).toEqual({ status: 503, retryAfter: '1', body: UNAVAILABLE });
      expect(instances.arrived).toBe(1);
      expect((await send('POST')).status).toBe(200);
    },
  );

  it('answers 503 to a POST without a key whose instance does not answer, and sends it once', async () => {
    Object.assign(instances, { areFrozen: true, arrived: 0 });
    expect((await send('POST')).status).toBe(503);
    instances.areFrozen = false;
    expect((await send('POST')).status).toBe(200);
    expect(instances.arrived).toBe(2);
  });

  it.each([
    ['POST', KEY],
    ['GET', {}],
  ])(
    'sends a %s that may be repeated to another instance, where the first one is lost',
    async (method, headers) => {
      await send(method, headers);
      Object.assign(instances, { losses: 1, arrived: 0 });
      expect((await send(method, headers)).status).toBe(200);
      expect(instances.arrived).toBe(2);
    },
  );

  it('answers 400 to what is no HTTP', async () => {
    const socket = connect({ ...client, port, host: '127.0.0.1' }).setEncoding('utf8');
    socket.write('hello\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('answers nothing to a request without TLS, and hands it to nobody', async () => {
    instances.arrived = 0;
    const socket = connectPlainly(port, '127.0.0.1').setEncoding('utf8');
    socket.write('GET /api/v1/time-logs HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await text(socket)).toBe('');
    expect(instances.arrived).toBe(0);
  });
});
