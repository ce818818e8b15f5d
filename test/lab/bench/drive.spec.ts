import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { drive, type Order, type Outcome } from './drive.js';

describe('the load driver', () => {
  let server: Server | undefined;

  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  async function driveAgainst(listener: RequestListener, order: Partial<Order> = {}): Promise<Outcome> {
    server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const requests = ['/a', '/b'].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return drive({ port, connections: 4, requests, status: 200, seconds: 0.2, drainSeconds: 1, ...order });
  }

  const answer = (response: ServerResponse, status = 200) =>
    void response.writeHead(status, { 'Content-Length': 0 }).end();

  it('sends the requests in rotation and counts each answer, also one that comes in pieces', async () => {
    const asked: Record<string, number> = {};
    const outcome = await driveAgainst((request, response) => {
      asked[request.url!] = (asked[request.url!] ?? 0) + 1;
      response.setHeader('Content-Length', 200_000);
      response.write(Buffer.alloc(100_000));
      setImmediate(() => response.end(Buffer.alloc(100_000)));
    });
    expect(outcome).toMatchObject({ failures: {}, unfinished: 0 });
    expect(outcome.answered).toBe(asked['/a']! + asked['/b']!);
    expect(Math.abs(asked['/a']! - asked['/b']!)).toBeLessThanOrEqual(1);
    expect(outcome.perSecond).toBeGreaterThan(0);
  });

  it('counts any other status as a failure', async () => {
    const outcome = await driveAgainst(({ url }, response) => answer(response, url === '/a' ? 200 : 503));
    expect(Object.keys(outcome.failures)).toEqual(['status 503']);
    expect(Math.abs(outcome.answered - outcome.failures['status 503']!)).toBeLessThanOrEqual(1);
  });

  it('counts a connection that is cut, and goes on with another', async () => {
    let isFirst = true;
    const outcome = await driveAgainst(
      (request, response) => {
        if (isFirst) request.socket.destroy();
        else answer(response);
        isFirst = false;
      },
      // The time for another connection on a busy machine.
      { connections: 1, seconds: 2 },
    );
    expect(outcome.failures).toEqual({ closed: 1 });
    expect(outcome.answered).toBeGreaterThan(0);
  });
});
