import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An answer as it comes over TCP. */
export interface RawAnswer {
  readonly id?: unknown;
  readonly err?: { readonly error: string; readonly message: string };
  readonly response?: unknown;
}

/** The bytes of a message, with the length of what they say. */
export function framed(message: Buffer | string): Buffer {
  const bytes = Buffer.from(message as string);
  return Buffer.concat([Buffer.from(`${bytes.toString().length}#`), bytes]);
}

/** A connection that sends any bytes, also those that no client of Nest sends. */
export class RawTcp {
  /** The texts of the answers. */
  private readonly answers: AsyncIterator<string, undefined>;

  private constructor(private readonly socket: Socket) {
    this.answers = this.read();
  }

  static async open(port: number): Promise<RawTcp> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    // A write may come after the end.
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return new RawTcp(socket.setEncoding('utf8'));
  }

  write(bytes: Buffer | string): void {
    this.socket.write(bytes);
  }

  /** The next answer; undefined where the service ends the connection before it. */
  async next(): Promise<RawAnswer | undefined> {
    const { value } = await this.answers.next();
    return value === undefined ? undefined : (JSON.parse(value) as RawAnswer);
  }

  /** The answer to one message. */
  async ask(message: Buffer | string): Promise<RawAnswer | undefined> {
    this.write(framed(message));
    return this.next();
  }

  /** The text of the answer to one message; empty where the service ends the connection before it. */
  async askText(message: Buffer | string): Promise<string> {
    this.write(framed(message));
    return (await this.answers.next()).value ?? '';
  }

  /** Resolves with the last answers when the service has ended the connection. */
  async ended(): Promise<readonly RawAnswer[]> {
    const last: RawAnswer[] = [];
    for (let answer = await this.next(); answer; answer = await this.next()) last.push(answer);
    return last;
  }

  /** Sends nothing more, and goes on reading. */
  end(bytes: Buffer | string): void {
    this.socket.end(bytes);
  }

  close(): void {
    this.socket.destroy();
  }

  private async *read(): AsyncGenerator<string, undefined> {
    let text = '';
    try {
      for await (const chunk of this.socket as AsyncIterable<string>) {
        text += chunk;
        for (;;) {
          const start = text.indexOf('#') + 1;
          const end = start + Number(text.slice(0, start - 1));
          if (start === 0 || text.length < end) break;
          yield text.slice(start, end);
          text = text.slice(end);
        }
      }
    } catch {
      // The service may reset a connection whose bytes it has not read.
    }
    return undefined;
  }
}
