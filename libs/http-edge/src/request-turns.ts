import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Requests of one connection that may wait; Node has read what follows, but does not parse it yet. */
const MOST_WAITING = 16;

/** A connection on which requests have waited. */
interface Line {
  waiting: number;
  /** The last request that was received on it. */
  last: IncomingMessage;
  /** What was read behind that request, and is not parsed yet. */
  rest?: Buffer | undefined;
  /** Whether nothing more can be read: the connection ends after the requests that wait. */
  isEnding: boolean;
}

/**
 * Serves the requests of a connection one after the other, in the order of their answers (RFC 9112, section 9.3.2).
 * Node alone begins whatever it reads at once, which may be 3,600 requests of one connection. While requests wait, nothing
 * more is read from their connection, so that a client which sends without reading is stopped by its own network.
 */
export class RequestTurns {
  private readonly lines = new WeakMap<Duplex, Line>();

  constructor(
    private readonly server: Server,
    private readonly serve: RequestListener,
  ) {}

  /** Serves a request when those before it on its connection are answered, which is at once as a rule. */
  take(request: IncomingMessage, response: ServerResponse): void {
    // Node gives a response its socket when the response before it is sent.
    if (response.socket) {
      this.serve(request, response);
      return;
    }
    const line = this.lineOf(request.socket, request);
    line.waiting++;
    line.last = request;
    request.socket.pause();
    // Not at once: other connections have their turn first.
    response.once('socket', () => setImmediate(() => this.begin(line, request, response)));
  }

  /** True while requests of a connection wait. */
  isWaiting(socket: Duplex): boolean {
    return (this.lines.get(socket)?.waiting ?? 0) > 0;
  }

  /** Takes the errors of Node's parser that this class has brought about; false for any other. */
  takeError(error: ParserError, socket: Duplex): boolean {
    const line = this.lines.get(socket);
    if (!line?.waiting) return false;
    // The client is not late: nobody reads what it sends.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return true;
    if (error.code !== 'HPE_PAUSED') return false;
    line.rest = error.rawPacket?.subarray(error.bytesParsed);
    return true;
  }

  /**
   * Ends a connection, of which nothing more can be read, after the answers to the requests that wait. Returns false,
   * and does nothing, where no whole request waits.
   */
  endAfterWaiting(socket: Duplex): boolean {
    const line = this.lines.get(socket);
    if (!line || wholeRequests(line) === 0) return false;
    line.isEnding = true;
    return true;
  }

  private lineOf(socket: Socket, last: IncomingMessage): Line {
    const known = this.lines.get(socket);
    if (known) return known;
    const line: Line = { waiting: 0, last, isEnding: false };
    this.lines.set(socket, line);
    const parser = parserOf(socket);
    if (parser) stopEarly(parser, line);
    // Node resumes the socket after each request that it has parsed, and a moment later, though it was paused since.
    socket.on('resume', () => {
      if (line.waiting === 0) return;
      socket.pause();
      socket.emit('pause');
    });
    return line;
  }

  private begin(line: Line, request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    line.waiting--;
    if (!socket.writable) return;
    if (line.isEnding && wholeRequests(line) === 0) response.setHeader('Connection', 'close');
    this.serve(request, response);
    if (line.waiting === 0) this.readOn(socket, line);
  }

  private readOn(socket: Socket, line: Line): void {
    const { rest } = line;
    const parser = parserOf(socket);
    if (!rest || !parser) {
      socket.resume();
      return;
    }
    line.rest = undefined;
    parser.resume();
    const result = parser.execute(rest);
    if (typeof result !== 'number') {
      this.server.emit('clientError', Object.assign(result, { rawPacket: rest }), socket);
    } else if (parser.incoming?.upgrade) this.server.emit('connect', parser.incoming, socket);
    else socket.resume();
  }
}

/** How many of the requests that wait were received in full: only the body of the last one may be missing. */
function wholeRequests({ waiting, last }: Line): number {
  return waiting > 0 && !last.complete ? waiting - 1 : waiting;
}

/** An error of Node's parser, as `clientError` tells it. */
interface ParserError extends NodeJS.ErrnoException {
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

/** Node's parser of a connection, as far as it is used here. */
interface Parser {
  readonly incoming?: IncomingMessage & { readonly upgrade?: boolean };
  /** Called with each head of a request. What it returns tells the parser how to go on: 0 for as usual. */
  onIncoming: (...head: never[]) => number;
  resume(): void;
  execute(bytes: Buffer): number | ParserError;
}

/** Makes the parser stop, with an error that is none, in the midst of what was read. */
const PAUSE = 21;

function parserOf(socket: Socket): Parser | undefined {
  return (socket as Socket & { parser?: Parser }).parser;
}

/** Node stops between two reads only, and a read may bring thousands of requests. */
function stopEarly(parser: Parser, line: Line): void {
  const { onIncoming } = parser;
  parser.onIncoming = (...head) => {
    const result = onIncoming(...head);
    return result === 0 && line.waiting >= MOST_WAITING ? PAUSE : result;
  };
}
