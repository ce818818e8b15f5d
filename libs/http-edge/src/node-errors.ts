import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { responseForKind, type ErrorCode } from '../../errors/src/index.js';
import type { EdgeServer } from './edge.server.js';
import { commonHeaders } from './edge.adapter.js';

/** The time that a refused connection stays open, so that a client that still sends can read. */
const LINGER_MS = 500;

const CODE_BY_PARSER_ERROR: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/**
 * Sends the error envelope, instead of Node's empty body, if Node refuses a request before any
 * handler runs: malformed HTTP, too large headers, requests that do not arrive in time, CONNECT.
 * `onRefused` is called with each error and the id of its request, for the log.
 */
export function answerNodeErrors(
  server: EdgeServer,
  onRefused: (error: ErrorCode, requestId: string) => void,
): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else refuseNext(socket, CODE_BY_PARSER_ERROR[error.code ?? ''] ?? 'VALIDATION_ERROR');
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex) =>
    refuseNext(socket, 'VALIDATION_ERROR', request),
  );

  /** Refuses the rest of a connection, after the responses to the requests that were received in full. */
  function refuseNext(socket: Duplex, error: ErrorCode, request?: IncomingMessage): void {
    const last = server.lastResponseOf(socket);
    const isIncomplete = last?.req.complete === false;
    const lastComplete = isIncomplete ? server.earlierResponseOf(socket) : last;
    if (lastComplete?.writableFinished === false) closeAfter(lastComplete, socket);
    // The client would take the refusal for a part of this response.
    else if (isIncomplete && last.headersSent) socket.destroy();
    else refuse(socket, error, request ?? (isIncomplete ? last.req : undefined));
  }

  /** Writes an error response directly to a socket, and closes the socket. */
  function refuse(socket: Duplex, error: ErrorCode, request: IncomingMessage | undefined): void {
    const { status, body, headers } = responseForKind(error);
    const text = JSON.stringify(body);
    const common = commonHeaders(request);
    const head = Object.entries({
      ...common,
      ...headers,
      'Content-Length': Buffer.byteLength(text),
      Date: new Date().toUTCString(),
      Connection: 'close',
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    onRefused(error, common['X-Request-Id']!);
    socket.on('error', () => socket.destroy());
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${text}`);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
}

function closeAfter(response: ServerResponse, socket: Duplex): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
  response.once('finish', () => socket.end());
}
