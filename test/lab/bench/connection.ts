import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked/i;
const END_OF_CHUNKS = Buffer.from('\r\n0\r\n\r\n');
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
  /** Bytes of the body that are still to come, Infinity if it comes in chunks; undefined while the head is. */
  #missing: number | undefined;
  /** The last bytes of a body in chunks. */
  #tail: Buffer = NOTHING;

  private constructor(
    private readonly socket: Socket,
    private readonly listener: Listener,
  ) {
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => this.#fail(error.code ?? error.message));
    socket.on('close', () => this.#fail('closed'));
  }

  /** Opens a connection to loopback; rejects where nobody listens. */
  static async open(port: number, listener: Listener): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new Connection(socket, listener);
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
    if (this.#missing === undefined) this.#readHead(Buffer.concat([this.#head, chunk]));
    else this.#readBody(chunk);
  }

  #readHead(bytes: Buffer): void {
    const end = bytes.indexOf(END_OF_HEAD);
    if (end < 0) {
      this.#head = bytes;
      return;
    }
    const head = bytes.toString('latin1', 0, end);
    const length = CONTENT_LENGTH.exec(head)?.[1];
    if (length === undefined && !CHUNKED.test(head)) {
      this.#fail('answer of unknown length');
      return;
    }
    this.#status = Number(head.slice(9, 12));
    this.#missing = length === undefined ? Infinity : Number(length);
    this.#readBody(bytes.subarray(end + END_OF_HEAD.length));
  }

  #readBody(chunk: Buffer): void {
    if (this.#missing === Infinity) {
      // A row of an export is never a lone zero.
      this.#tail = Buffer.concat([this.#tail, chunk]).subarray(-END_OF_CHUNKS.length);
      if (this.#tail.equals(END_OF_CHUNKS)) this.#complete();
      return;
    }
    this.#missing! -= chunk.length;
    if (this.#missing! < 0 || !this.#isBusy) this.#fail('more bytes than announced');
    else if (this.#missing === 0) this.#complete();
  }

  #complete(): void {
    this.#isBusy = false;
    this.#head = this.#tail = NOTHING;
    this.#missing = undefined;
    this.listener.answered(this, this.#status, performance.now() - this.#sentAt);
  }

  #fail(reason: string): void {
    this.close();
    this.listener.failed(this, reason);
  }
}
