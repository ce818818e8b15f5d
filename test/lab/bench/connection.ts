import { connect, type Socket } from 'node:net';
import { connect as connectOverTls } from 'node:tls';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const NOTHING = Buffer.alloc(0);

/** Receives the outcomes of the requests of a connection. */
export interface Listener {
  /** An answer has come in whole. */
  answered(connection: Connection, status: number, milliseconds: number): void;
  /** The connection is of no more use. */
  failed(connection: Connection, reason: string): void;
}

/**
 * One kept HTTP/1.1 connection with at most one request under way. By hand, because the load driver shares the
 * machine with what it measures: node:http costs several times as much.
 */
export class Connection {
  #sentAt = 0;
  #isBusy = false;
  #status = 0;
  #head: Buffer = NOTHING;
  /** Bytes of the body that are still to come; undefined while the head is. */
  #missing: number | undefined;

  private constructor(
    private readonly socket: Socket,
    private readonly listener: Listener,
  ) {
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => this.#fail(error.code ?? error.message));
    socket.on('close', () => this.#fail('closed'));
  }

  /** Opens a connection to loopback, over TLS where a CA is named (PEM); rejects where nobody listens. */
  static open(
    port: number,
    listener: Listener,
    { host = '127.0.0.1', ca }: { host?: string; ca?: string } = {},
  ): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket =
        ca === undefined
          ? connect({ port, host })
          : connectOverTls({ port, host, ca, servername: 'localhost' });
      socket.setNoDelay();
      socket.once('error', reject);
      socket.once(ca === undefined ? 'connect' : 'secureConnect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket, listener));
      });
    });
  }

  send(request: Buffer): void {
    this.#isBusy = true;
    this.#sentAt = performance.now();
    this.socket.write(request);
  }

  /** Milliseconds since the request that is under way was sent; undefined where there is none. */
  get waiting(): number | undefined {
    return this.#isBusy ? performance.now() - this.#sentAt : undefined;
  }

  /** Ends the connection without a word to the listener. */
  close(): void {
    this.socket.removeAllListeners();
    this.socket.on('error', () => undefined);
    this.socket.destroy();
  }

  #read(chunk: Buffer): void {
    if (this.#missing === undefined) {
      const bytes = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
      const end = bytes.indexOf(END_OF_HEAD);
      if (end < 0) {
        this.#head = bytes;
        return;
      }
      const head = bytes.toString('latin1', 0, end);
      const length = CONTENT_LENGTH.exec(head)?.[1];
      if (length === undefined) {
        this.#fail('answer without Content-Length');
        return;
      }
      this.#status = Number(head.slice(9, 12));
      this.#missing = Number(length) - (bytes.length - end - END_OF_HEAD.length);
    } else {
      this.#missing -= chunk.length;
    }
    if (this.#missing < 0 || !this.#isBusy) this.#fail('more bytes than announced');
    else if (this.#missing === 0) this.#complete();
  }

  #complete(): void {
    this.#isBusy = false;
    this.#head = NOTHING;
    this.#missing = undefined;
    this.listener.answered(this, this.#status, performance.now() - this.#sentAt);
  }

  #fail(reason: string): void {
    this.close();
    this.listener.failed(this, reason);
  }
}
