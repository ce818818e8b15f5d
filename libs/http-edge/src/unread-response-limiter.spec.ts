import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { readSendQueues } from './send-queues.js';
import { UnreadResponseLimiter } from './unread-response-limiter.js';

/** A response with more bytes than the kernel buffers for a client. */
const LARGE_RESPONSE = Buffer.alloc(30_000_000);
const TIMEOUT_MS = 2_000;
const CHECK_INTERVAL_MS = 500;

describe('UnreadResponseLimiter', () => {
  const servers: Server[] = [];
  const sockets: Socket[] = [];
  // Sockets need the real functions.
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
  afterEach(() => {
    jest.useRealTimers();
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  /** Opens a client to which a server sends a response. The client reads nothing by itself. */
  async function openClient(limiter: UnreadResponseLimiter) {
    const server = createServer();
    servers.push(server);
    limiter.watch(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    const [served] = (await once(server, 'connection')) as [Socket];
    for (const socket of [client, served]) sockets.push(socket.on('error', () => undefined));
    served.write(LARGE_RESPONSE);
    return { client, served };
  }

  /** Reads at least this number of bytes. */
  async function read(client: Socket, bytes: number): Promise<void> {
    for (let received = 0; received < bytes;) {
      const chunk = client.read() as Buffer | null;
      if (chunk) received += chunk.length;
      else await once(client, 'readable');
    }
  }

  /** Advances the clock to the next check, and waits for its end. */
  async function runCheck(): Promise<void> {
    jest.advanceTimersByTime(CHECK_INTERVAL_MS);
    await readSendQueues();
    await new Promise(setImmediate);
  }

  it('disconnects a client that reads, but below the minimum rate', async () => {
    const { client, served } = await openClient(new UnreadResponseLimiter(TIMEOUT_MS, 4_000_000));
    for (let checks = 0; checks < 20 && !served.destroyed; checks++) {
      await read(client, 100_000);
      await runCheck();
    }
    expect(served.destroyed).toBe(true);
  });

  it('does not disconnect a client above the minimum rate until it stops', async () => {
    const { client, served } = await openClient(new UnreadResponseLimiter(TIMEOUT_MS, 100_000));
    for (let checks = 0; checks < 8; checks++) {
      await read(client, 1_000_000);
      await runCheck();
      expect(served.destroyed).toBe(false);
    }
    // The kernel still accepts some of the remaining 22 MB: on a busy machine during many checks.
    for (let checks = 0; checks < 1_000 && !served.destroyed; checks++) await runCheck();
    expect(served.destroyed).toBe(true);
  });

  it('disconnects the longest stalled client if too many bytes wait on all servers', async () => {
    const limiter = new UnreadResponseLimiter(60_000, 1, 1.5 * LARGE_RESPONSE.length);
    const { served: first } = await openClient(limiter);
    for (let checks = 0; checks < 3; checks++) await runCheck();
    const { served: second } = await openClient(limiter);
    await runCheck();
    expect([first.destroyed, second.destroyed]).toEqual([true, false]);
  });
});
