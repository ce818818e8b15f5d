import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ServiceProcess } from '../../support/service-process.js';
import { memoryFromNow, served } from './support/abused-service.js';
import { serve } from './support/serve.js';
import { useCluster } from './support/use-cluster.js';

const REQUEST = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
/** Requests that one client sends at once: as many as are served, and as many as fit into one read. */
const SERVED = 17;
const TOO_MANY = 1_400;
/** Megabytes above those of a service at rest. */
const MOST_MEMORY = 200;

describe('a service whose clients send requests without a token and do not read', () => {
  const postgres = useCluster();
  let service: ServiceProcess;
  const sockets: Socket[] = [];
  afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

  /** Asks as others do, so often. What is made when it is first asked for is there then, and some code is compiled. */
  async function askAsOthers(times: number): Promise<void> {
    for (let i = 0; i < times; i++)
      await Promise.all(
        ['/openapi.json', '/livez', '/api/v1/time-logs'].map((path) => served(service, path)),
      );
  }

  /** Sends from a number of connections. Resolves when each is closed or has the start of an unread answer. */
  async function pipeline(connections: number, requests: number): Promise<void> {
    await Promise.all(
      Array.from({ length: connections }, async () => {
        const socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
        sockets.push(socket);
        socket.write(REQUEST.repeat(requests));
        await once(socket, 'readable').catch(() => undefined);
      }),
    );
  }

  it.each([
    [200, TOO_MANY],
    [200, SERVED],
  ])(
    `needs less than ${MOST_MEMORY} MB more for %d of them with %d requests each, and serves others`,
    async (connections, requests) => {
      service = await serve(await postgres.createDatabase());
      await askAsOthers(50);
      const memory = await memoryFromNow(service);
      await pipeline(connections, requests);
      await askAsOthers(20);
      const { before, peak } = await memory(`${connections} connections`);
      expect(peak - before).toBeLessThan(MOST_MEMORY);
    },
  );
});
