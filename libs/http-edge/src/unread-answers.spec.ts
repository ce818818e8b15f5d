import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { UnreadAnswers } from './unread-answers.js';

/** More than systems take ahead of a client. */
const ANSWER = Buffer.alloc(30_000_000);
/** Milliseconds that a client has. */
const TIME = 2_000;

/** Waits until the system has taken nothing more for a connection in twice the time between two looks. */
async function untilStill(socket: Socket): Promise<void> {
  const { _handle: handle } = socket as unknown as { _handle: { writeQueueSize: number } };
  for (let left = -1; left !== handle.writeQueueSize;) {
    left = handle.writeQueueSize;
    await delay(1_000);
  }
}

describe('UnreadAnswers', () => {
  const servers: Server[] = [];
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  /** A server that sends an answer to whoever connects. */
  async function serve(unread: UnreadAnswers): Promise<Server> {
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.write(ANSWER);
    });
    servers.push(server);
    unread.watch(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return server;
  }

  /** A client that takes so many bytes a second, for so many milliseconds; after that it takes all. */
  async function read(server: Server, rate: number, time = Infinity): Promise<number> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    const begun = performance.now();
    let received = 0;
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received === ANSWER.length) socket.destroy();
      if (performance.now() - begun > time) return;
      socket.pause();
      setTimeout(() => socket.resume(), (chunk.length / rate) * 1_000);
    });
    await new Promise((resolve) => socket.once('close', resolve));
    return received;
  }

  it('cuts a client that takes less than the least rate, although it always takes some', async () => {
    const server = await serve(new UnreadAnswers(TIME, 4_000_000));
    expect(await read(server, 1_000_000)).toBeLessThan(ANSWER.length);
  });

  it('leaves a client alone that takes more', async () => {
    const server = await serve(new UnreadAnswers(TIME, 100_000));
    // Systems tell of room in pieces of megabytes: who takes little has told of none for seconds. On a busy machine the
    // client itself may take nothing for so long: then again.
    for (let left = 5; left > 1; left--)
      if ((await read(server, 5_000_000, 2.5 * TIME)) === ANSWER.length) return;
    expect(await read(server, 5_000_000, 2.5 * TIME)).toBe(ANSWER.length);
  });

  it('cuts who took nothing for longest where too much waits in all, over all servers', async () => {
    const unread = new UnreadAnswers(60_000, 1, 1.5 * ANSWER.length);
    const [one, other] = [await serve(unread), await serve(unread)];
    const ignore = async (server: Server) => {
      const connected = once(server, 'connection') as Promise<[Socket]>;
      sockets.push(connect((server.address() as AddressInfo).port, '127.0.0.1').pause());
      const [socket] = await connected;
      return socket;
    };
    const first = await ignore(one);
    // The system takes no more of it.
    await untilStill(first);
    const second = await ignore(other);
    await once(first, 'close');
    expect(second.destroyed).toBe(false);
  });
});
