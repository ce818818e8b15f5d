import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { responseForKind, type ErrorCode } from '../../errors/src/index.js';
import type { PipelineQueue } from './pipeline-queue.js';

/** The time that a refused connection stays open, so that a client that still sends can read. */
const LINGER_MS = 500;

const CODE_BY_PARSER_ERROR: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

export interface NodeErrorOptions {
  /** Returns the headers of a response. `request` is undefined if its headers were not received. */
  readonly headers: (request: IncomingMessage | undefined) => Record<string, string>;
  /** Called for each refusal, for the log. */
  readonly onRefused?: (error: ErrorCode, headers: Readonly<Record<string, string>>) => void;
}

/**
 * Sends the error envelope, instead of Node's empty body, if Node refuses a request before any
 * handler runs: malformed HTTP, too large headers, requests that do not arrive in time, CONNECT.
 */
export function answerNodeErrors(server: Server, queue: PipelineQueue, options: NodeErrorOptions): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const { pending, last } = queue.requestsOf(socket);
    const [response, ...waiting] = pending;
    // A request that waits for earlier ones is not read, so it is not late. Node repeats the error.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && waiting.at(-1)?.req.complete === false) return;
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    // The response was sent before the end of the request, which is missing or malformed.
    else if (!response && last?.complete === false) socket.destroy();
    else refuseNext(socket, CODE_BY_PARSER_ERROR[error.code ?? ''] ?? 'VALIDATION_ERROR', response?.req);
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex) =>
    refuseNext(socket, 'VALIDATION_ERROR', request),
  );

  /** Refuses the rest of a connection. Only completely received requests get their responses. */
  function refuseNext(socket: Duplex, error: ErrorCode, request?: IncomingMessage): void {
    const { pending } = queue.requestsOf(socket);
    const lastComplete = pending.findLast(({ req }) => req.complete);
    if (lastComplete) closeAfter(lastComplete, socket);
    // The client would read a second response as the body of the first.
    else if (pending[0]?.headersSent) socket.destroy();
    else refuse(socket, error, options, request);
  }
}

function closeAfter(response: ServerResponse, socket: Duplex): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
  response.once('finish', () => socket.end());
}

/** Writes an error response directly to a socket, and closes the socket. */
export function refuse(
  socket: Duplex,
  error: ErrorCode,
  options: NodeErrorOptions,
  request?: IncomingMessage,
): void {
  const { status, body, headers } = responseForKind(error);
  const text = JSON.stringify(body);
  const allHeaders: Record<string, string> = {
    ...options.headers(request),
    ...headers,
    'Content-Length': String(Buffer.byteLength(text)),
    Date: new Date().toUTCString(),
    Connection: 'close',
  };
  options.onRefused?.(error, allHeaders);
  const head = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${text}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
