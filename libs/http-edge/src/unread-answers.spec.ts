import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { systemQueues } from './system-queues.js';
import { UnreadAnswers } from './unread-answers.js';

/** More than systems take ahead of a client. */
const ANSWER = Buffer.alloc(30_000_000);
/** Milliseconds that a client has, and those between two looks at it. */
const TIME = 2_000;
const PERIOD = 500;

describe('UnreadAnswers', () => {
  const servers: Server[] = [];
  const sockets: Socket[] = [];
  // The timer and the clock of what is tested; those of Node go on.
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
  afterEach(() => {
    jest.useRealTimers();
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  /** A client of a server that sends an answer to each, and takes nothing of it by itself. */
  async function openClient(unread: UnreadAnswers) {
    const server = createServer();
    servers.push(server);
    unread.watch(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    const [served] = (await once(server, 'connection')) as [Socket];
    for (const socket of [client, served]) sockets.push(socket.on('error', () => undefined));
    served.write(ANSWER);
    return { client, served };
  }

  /** Takes at least this number of bytes. */
  async function take(client: Socket, bytes: number): Promise<void> {
    for (let taken = 0; taken < bytes;) {
      const chunk = client.read() as Buffer | null;
      if (chunk) taken += chunk.length;
      else await once(client, 'readable');
    }
  }

  /** Has the time between two looks pass, and waits for the end of the look. */
  async function look(): Promise<void> {
    jest.advanceTimersByTime(PERIOD);
    await systemQueues();
    await new Promise(setImmediate);
  }

  it('cuts a client that takes less than the least rate, although it always takes some', async () => {
    const { client, served } = await openClient(new UnreadAnswers(TIME, 4_000_000));
    for (let looks = 0; looks < 20 && !served.destroyed; looks++) {
      await take(client, 100_000);
      await look();
    }
    expect(served.destroyed).toBe(true);
  });

  it('leaves a client alone that takes more, until it takes nothing', async () => {
    const { client, served } = await openClient(new UnreadAnswers(TIME, 100_000));
    for (let looks = 0; looks < 8; looks++) {
      await take(client, 1_000_000);
      await look();
      expect(served.destroyed).toBe(false);
    }
    // The system still takes some megabytes of the remaining 22: on a busy machine for many looks.
    for (let looks = 0; looks < 1_000 && !served.destroyed; looks++) await look();
    expect(served.destroyed).toBe(true);
  });

  it('cuts who took nothing for longest where too much waits in all, over all servers', async () => {
    const unread = new UnreadAnswers(60_000, 1, 1.5 * ANSWER.length);
    const { served: first } = await openClient(unread);
    for (let looks = 0; looks < 3; looks++) await look();
    const { served: second } = await openClient(unread);
    await look();
    expect([first.destroyed, second.destroyed]).toEqual([true, false]);
  });
});
