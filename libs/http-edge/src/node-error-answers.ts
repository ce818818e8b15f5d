import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { responseForKind, type ErrorCode } from '../../errors/src/index.js';
import type { PipelineQueue } from './pipeline-queue.js';

/** Milliseconds that a refused connection stays open. A client that is still sending can then read the answer. */
const LINGER = 500;

const CODE_BY_PARSER_ERROR: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/** What the answers to errors of the parser need. */
export interface NodeErrorOptions {
  /** Makes the headers of one answer. `request` is undefined if its head was not received. */
  readonly headers: (request: IncomingMessage | undefined) => Record<string, string>;
  /** Called for each refusal, for the log. */
  readonly onRefused?: (error: ErrorCode, headers: Readonly<Record<string, string>>) => void;
}

/**
 * Answers with the error envelope if Node's HTTP parser refuses a request before any handler runs: malformed HTTP, too
 * large headers, requests that do not arrive in time, CONNECT. By default Node's answers have an empty body.
 */
export function answerNodeErrors(server: Server, queue: PipelineQueue, options: NodeErrorOptions): void {
  /** The last request of each connection. */
  const last = new WeakMap<Duplex, IncomingMessage>();
  server.on('request', (request: IncomingMessage) => last.set(request.socket, request));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const [answer, ...waiting] = queue.pendingOf(socket);
    // A request that waits for earlier ones is not read, so it is not late. Node reports it again.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && waiting.at(-1)?.req.complete === false) return;
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    // The last request was answered before its end, which is missing or malformed.
    else if (!answer && last.get(socket)?.complete === false) socket.destroy();
    else refuseNext(socket, CODE_BY_PARSER_ERROR[error.code ?? ''] ?? 'VALIDATION_ERROR', answer?.req);
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex) =>
    refuseNext(socket, 'VALIDATION_ERROR', request),
  );

  /** Refuses the rest of a connection. Requests that were received in full get their own answers, and only those. */
  function refuseNext(socket: Duplex, error: ErrorCode, request?: IncomingMessage): void {
    const pending = queue.pendingOf(socket);
    const whole = pending.findLast(({ req }) => req.complete);
    if (whole) closeAfter(whole, socket);
    // The client would read a second answer as the body of the first.
    else if (pending[0]?.headersSent) socket.destroy();
    else refuse(socket, error, options, request);
  }
}

function closeAfter(answer: ServerResponse, socket: Duplex): void {
  if (!answer.headersSent) answer.setHeader('Connection', 'close');
  answer.once('finish', () => socket.end());
}

/** Writes the answer for a code straight to a socket, closes the socket, and destroys it a moment later. */
export function refuse(
  socket: Duplex,
  error: ErrorCode,
  options: NodeErrorOptions,
  request?: IncomingMessage,
): void {
  const { status, body, headers } = responseForKind(error);
  const text = JSON.stringify(body);
  const all: Record<string, string> = {
    ...options.headers(request),
    ...headers,
    'Content-Length': String(Buffer.byteLength(text)),
    Date: new Date().toUTCString(),
    Connection: 'close',
  };
  options.onRefused?.(error, all);
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${text}`);
  setTimeout(() => socket.destroy(), LINGER).unref();
}
