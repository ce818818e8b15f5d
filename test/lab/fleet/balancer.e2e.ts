import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { Agent } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { useFolder } from '../../support/fixtures.js';
import { refusal } from '../../support/requests.js';
import { endProcess, type Printing } from '../../support/service-process.js';
import { unusedPort } from '../../support/unused-port.js';
import { fetchOver, identityOf, makeCertificates } from './certificates.js';
import { describeWith } from '../describe-with.js';
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
  let balancer: Printing;
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
  const send = async (agent: Agent, method: string, headers: Record<string, string> = {}) => {
    const body = ['POST', 'PUT'].includes(method) ? '{}' : null;
    const url = `https://127.0.0.1:${port}/api/v1/time-logs`;
    const answer = await fetchOver({ ca }, agent)(url, { method, headers, body });
    const retryAfter = answer.headers.get('retry-after');
    return { status: answer.status, retryAfter, body: await answer.json() };
  };
  /** One connection, which it keeps. */
  const newAgent = () => new Agent({ keepAlive: true, maxSockets: 1 });

  beforeAll(async () => {
    const certificates = await makeCertificates(inFolder('certificates'));
    ({ ca } = await identityOf(certificates));
    port = await unusedPort();
    // Nobody asks for the databases.
    const nowhere = async () => ({ port: await unusedPort(), restPort: await unusedPort() });
    balancer = await startBalancer({
      certificates: join(certificates, 'balancer-1'),
      requests: port,
      databases: [await unusedPort(), await unusedPort()],
      instances: await Promise.all(Array.from({ length: 4 }, () => listen('instance'))),
      reader: await listen('reader'),
      postgres: [await nowhere(), await nowhere()],
    });
    await eventually(async () => expect((await send(new Agent(), 'POST')).status).toBe(200));
  });
  afterAll(async () => {
    await endProcess(balancer.child);
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
