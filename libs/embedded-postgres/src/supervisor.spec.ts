import { describe, expect, it } from '@jest/globals';
import { Supervisor } from './supervisor.js';

/** A server that ends when `end` is called. */
class FakeServer {
  end: (reason: string) => void = () => undefined;
  private readonly whenEnded = new Promise<string>((resolve) => (this.end = resolve));

  ended(): Promise<string> {
    return this.whenEnded;
  }

  stop(): Promise<void> {
    this.end('stopped');
    return Promise.resolve();
  }
}

function supervise(restart: (server: FakeServer, count: number) => void) {
  const log: string[] = [];
  const first = new FakeServer();
  let restarts = 0;
  let supervisor: Supervisor | undefined;
  const failure = new Promise<string>((resolve) => {
    const again = () => {
      const server = new FakeServer();
      restarts += 1;
      restart(server, restarts);
      return Promise.resolve(server);
    };
    const fail = ({ message }: Error) => resolve(message);
    supervisor = new Supervisor(first, again, fail, (line) => log.push(line), 1);
  });
  return { first, failure, log, restarts: () => restarts, stop: () => supervisor?.stop() };
}

describe('Supervisor', () => {
  it('gives up if a server ends for the sixth time within a minute', async () => {
    const { first, failure, restarts } = supervise((server) => server.end('killed'));
    first.end('killed');
    expect(await failure).toBe(
      'the embedded PostgreSQL ended 6 times within a minute (killed): fix this, or set DATABASE_URL to another PostgreSQL server',
    );
    expect(restarts()).toBe(5);
  });

  it('tries again if a restart fails, and logs each end', async () => {
    let lastsNow: () => void = () => undefined;
    const lasts = new Promise<void>((resolve) => (lastsNow = resolve));
    const { first, log, restarts, stop } = supervise((_, count) => {
      if (count < 3) throw new Error('not yet');
      lastsNow();
    });
    first.end('killed');
    await lasts;
    await stop();
    expect(restarts()).toBe(3);
    expect(log).toEqual(['PostgreSQL ended (killed): restarting it']);
  });

  it('restarts nothing after stop()', async () => {
    const { log, restarts, stop } = supervise(() => undefined);
    await stop();
    expect([log, restarts()]).toEqual([[], 0]);
  });
});
