import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { useFolder } from '../../support/fixtures.js';
import { refusal } from '../../support/requests.js';
import { unusedPort } from '../../support/unused-port.js';
import { Certificates } from './certificates.js';
import { describeWith } from '../describe-with.js';
import type { Daemon } from './daemon.js';
import { startBalancer } from './fleet.js';

const KEY = { 'idempotency-key': 'a-key' };
const UNAVAILABLE = {
  status: 503,
  retryAfter: '1',
  body: refusal('SERVICE_UNAVAILABLE', 'the service is unavailable at the moment; retry later'),
};

describeWith('haproxy')('the balancer', () => {
  const inFolder = useFolder('balancer-');
  const servers: Server[] = [];
  /** How the instances take the next requests: `losses` of them lose their instance, `frozen` ones wait forever. */
  const next = { losses: 0, isFrozen: false, arrived: 0 };
  let balancer: Daemon;
  let port: number;
  let ca: string;

  const listen = async (name: string) => {
    const server = createServer((incoming, answer) => {
      if (incoming.url === '/readyz') return void answer.end('OK');
      incoming.resume().on('end', () => {
        next.arrived++;
        if (next.losses-- > 0) incoming.socket.resetAndDestroy();
        else if (!next.isFrozen) answer.end(JSON.stringify({ from: name }));
      });
    });
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  };
  const send = (agent: Agent, method: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; retryAfter: string | undefined; body: unknown }>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, method, path: '/api/v1/time-logs', agent };
      request({ ...options, headers }, (answer) => {
        json(answer).then(
          (body) => resolve({ status: answer.statusCode!, retryAfter: answer.headers['retry-after'], body }),
          reject,
        );
      })
        .on('error', reject)
        .end(['POST', 'PUT'].includes(method) ? '{}' : undefined);
    });
  /** One connection, which it keeps. */
  const newAgent = () => new Agent({ keepAlive: true, maxSockets: 1, ca });

  beforeAll(async () => {
    const certificates = await Certificates.make(inFolder('certificates'));
    ({ ca } = await certificates.identity());
    port = await unusedPort();
    // Nobody asks for the databases.
    const nowhere = async () => [await unusedPort(), await unusedPort()] as const;
    balancer = startBalancer({
      certificates: certificates.of('balancer-1'),
      requests: port,
      figures: await unusedPort(),
      primary: await unusedPort(),
      standby: await unusedPort(),
      instances: await Promise.all(Array.from({ length: 4 }, () => listen('instance'))),
      reader: await listen('reader'),
      postgres: [await nowhere(), await nowhere()],
    });
    await eventually(async () => expect((await send(new Agent({ ca }), 'POST')).status).toBe(200));
  });
  afterAll(async () => {
    await balancer.end();
    for (const server of servers) server.close().closeAllConnections();
  });

  it.each([
    ['POST', 'the first request', [], {}],
    ['POST', 'a request after others', ['POST', 'GET', 'POST'], {}],
    ['PUT', 'a request after others', ['GET', 'PUT'], {}],
    ['DELETE', 'the first request', [], KEY],
  ])(
    'answers 503 to a %s, %s of its connection, whose instance is lost',
    async (method, _, earlier, headers) => {
      const agent = newAgent();
      for (const other of earlier) await send(agent, other);
      Object.assign(next, { losses: 1, arrived: 0 });
      expect(await send(agent, method, headers)).toEqual(UNAVAILABLE);
      expect(next.arrived).toBe(1);
      expect((await send(agent, 'POST')).status).toBe(200);
      agent.destroy();
    },
  );

  it('answers 503 to a POST without a key whose instance does not answer, and sends it once', async () => {
    const agent = newAgent();
    Object.assign(next, { isFrozen: true, arrived: 0 });
    expect(await send(agent, 'POST')).toEqual(UNAVAILABLE);
    expect(next.arrived).toBe(1);
    next.isFrozen = false;
    agent.destroy();
  });

  it.each([
    ['POST', KEY],
    ['GET', {}],
  ])(
    'sends a %s that may be repeated to another instance, where the first is lost',
    async (method, headers) => {
      const agent = newAgent();
      Object.assign(next, { losses: 1, arrived: 0 });
      expect((await send(agent, method, headers)).status).toBe(200);
      expect(next.arrived).toBe(2);
      agent.destroy();
    },
  );
});
