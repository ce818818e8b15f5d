import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { Agent, createServer as createServerOverTls, request } from 'node:https';
import {
  type AddressInfo,
  connect as connectPlainly,
  createServer as createPlainServer,
  type Server as PlainServer,
} from 'node:net';
import { json, text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
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

/** Has a server listen on a free port of loopback. */
async function portOf(server: PlainServer): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

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
    return portOf(server);
  }

  close(): void {
    for (const server of this.servers) server.close().closeAllConnections();
  }
}

describeWith('haproxy')('the balancer', () => {
  const inFolder = useFolder('balancer-');
  const instances = new Instances();
  const databases: PlainServer[] = [];
  let primary: number;
  let standby: number;
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
    /** A server that tells its name to whoever connects, and the Patroni that tells its role; their ports. */
    const listen = async (name: string, role: string) => {
      const server = createPlainServer((socket) => {
        socket.on('error', () => undefined).end(name);
      });
      const patroni = createServerOverTls(await certificates.identity(name), ({ url }, answer) => {
        answer.writeHead(url!.startsWith(role) ? 200 : 503).end();
      });
      databases.push(server, patroni);
      return [await portOf(server), await portOf(patroni)] as const;
    };
    [port, primary, standby] = [await unusedPort(), await unusedPort(), await unusedPort()];
    balancer = startBalancer({
      address: '127.0.0.1',
      certificates: certificates.of('balancer-1'),
      requests: port,
      figures: await unusedPort(),
      primary,
      standby,
      instances: await Promise.all(Array.from({ length: 4 }, () => instances.listen())),
      reader: await instances.listen(),
      postgres: [await listen('postgres-1', '/primary'), await listen('postgres-2', '/replica')],
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
    for (const server of databases) server.close();
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

  it('leads nobody to the wrong server, before and after it is reloaded', async () => {
    const ledTo = (to: number) => text(connectPlainly(to, '127.0.0.1').setEncoding('utf8'));
    const names = { [primary]: 'postgres-1', [standby]: 'postgres-2' };
    for (const [to, name] of Object.entries(names))
      await eventually(async () => expect(await ledTo(Number(to))).toBe(name));

    let isOver = false;
    const seen = new Set<string>();
    const connectAgain = async (to: number) => {
      while (!isOver) {
        seen.add(`${names[to]}: ${await ledTo(to)}`);
        await delay(5);
      }
    };
    const connecting = [primary, primary, standby, standby].map(connectAgain);
    for (let reloads = 0; reloads < 3; reloads++) {
      balancer.signal('SIGUSR2');
      await delay(2_000);
    }
    isOver = true;
    await Promise.all(connecting);
    expect([...seen].sort()).toEqual(['postgres-1: postgres-1', 'postgres-2: postgres-2']);
  });
});
