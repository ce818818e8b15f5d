import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds after which a client that was refused asks again. */
const RETRY_DELAY_MS = 100;

/** Clients that hardly take the answers that they ask for, and ask again when they are refused. */
export class SlowReaders {
  /** Answers that have begun, and refusals. */
  begun = 0;
  refused = 0;
  private readonly sockets = new Set<Socket>();
  private isOver = false;

  /** Each sends these bytes, and takes so many of the answer in a second, or none. */
  constructor(
    private readonly port: number,
    private readonly asked: string,
    private readonly rate: number,
  ) {}

  start(clients: number): void {
    for (let client = 0; client < clients; client++) void this.ask();
  }

  end(): void {
    this.isOver = true;
    for (const socket of this.sockets) socket.destroy();
  }

  private async ask(): Promise<void> {
    while (!this.isOver) {
      const socket = connect(this.port, '127.0.0.1').on('error', () => undefined);
      this.sockets.add(socket);
      socket.write(this.asked);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const head = await Promise.race([new Promise((resolve) => socket.once('data', resolve)), closed]);
      if (/^HTTP\/1.1 503|"err":/.test(String(head).slice(0, 100))) {
        this.refused++;
        socket.destroy();
        await delay(RETRY_DELAY_MS);
      } else {
        this.begun++;
        this.takeSlowly(socket);
        // A client that reads nothing more does not notice its end.
        await closed;
      }
      this.sockets.delete(socket);
    }
  }

  private takeSlowly(socket: Socket): void {
    const rest = (bytes: number) => {
      socket.pause();
      if (this.rate > 0) setTimeout(() => socket.resume(), (bytes / this.rate) * 1_000).unref();
    };
    socket.on('data', ({ length }: Buffer) => rest(length));
    rest(1);
  }
}
