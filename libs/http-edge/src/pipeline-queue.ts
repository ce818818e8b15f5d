import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** How many requests of one connection may wait. Node has read what follows them, but does not parse it yet. */
const MOST_WAITING = 16;

/** A connection on which requests have waited. */
interface Line {
  waiting: number;
  /** The last request that arrived on it. */
  last: IncomingMessage;
  /** What was read after that request and is not parsed yet. */
  rest?: Buffer | undefined;
  /** Nothing more can be read: the connection ends after the requests that wait. */
  isEnding: boolean;
}

/**
 * Serves the requests of a connection one after the other, in the order of their answers (RFC 9112, section 9.3.2).
 * By default Node begins all requests of one read at once; that can be 3,600. While requests wait, nothing more is read
 * from their connection: a client that only sends is stopped by its own network.
 */
export class PipelineQueue {
  private readonly lines = new WeakMap<Duplex, Line>();

  constructor(
    private readonly server: Server,
    private readonly serve: RequestListener,
  ) {}

  /** Serves a request when all earlier ones on its connection are answered. Usually that is at once. */
  take(request: IncomingMessage, response: ServerResponse): void {
    // Node gives a response its socket when the previous response is sent.
    if (response.socket) {
      this.serve(request, response);
      return;
    }
    const line = this.lineOf(request.socket, request);
    line.waiting++;
    line.last = request;
    request.socket.pause();
    // A turn later, so that other connections come first.
    response.once('socket', () => setImmediate(() => this.begin(line, request, response)));
  }

  /** True while requests of a connection wait. */
  isWaiting(socket: Duplex): boolean {
    return (this.lines.get(socket)?.waiting ?? 0) > 0;
  }

  /** Handles the parser errors that this class has caused; returns false for any other. */
  takeError(error: ParserError, socket: Duplex): boolean {
    const line = this.lines.get(socket);
    if (!line?.waiting) return false;
    // The client is not too slow: we do not read what it sends.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return true;
    if (error.code !== 'HPE_PAUSED') return false;
    line.rest = error.rawPacket?.subarray(error.bytesParsed);
    return true;
  }

  /**
   * For a connection from which nothing more can be read: ends it after the answers to the requests that wait. Does
   * nothing and returns false where no whole request waits.
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
    // Node resumes the socket after each request that it has parsed, a moment later, even if it was paused meanwhile.
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

/** How many of the waiting requests were received in full. Only the body of the last one may be missing. */
function wholeRequests({ waiting, last }: Line): number {
  return waiting > 0 && !last.complete ? waiting - 1 : waiting;
}

/** An error of Node's parser, as `clientError` tells it. */
interface ParserError extends NodeJS.ErrnoException {
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

/** Node's parser of a connection: the parts that are used here. */
interface Parser {
  readonly incoming?: IncomingMessage & { readonly upgrade?: boolean };
  /** Called with the head of each request. The returned number tells the parser how to go on; 0: as usual. */
  onIncoming: (...head: never[]) => number;
  resume(): void;
  execute(bytes: Buffer): number | ParserError;
}

/** Stops the parser in the middle of what was read, by an error that is not a real one. */
const PAUSE = 21;

function parserOf(socket: Socket): Parser | undefined {
  return (socket as Socket & { parser?: Parser }).parser;
}

/** Node itself can only stop between two reads, and one read may bring thousands of requests. */
function stopEarly(parser: Parser, line: Line): void {
  const { onIncoming } = parser;
  parser.onIncoming = (...head) => {
    const result = onIncoming(...head);
    return result === 0 && line.waiting >= MOST_WAITING ? PAUSE : result;
  };
}
