import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from './domain-error.js';
import { answerFor } from './error-envelope.js';

/** Milliseconds that a refused connection stays open, so that a client which is still sending can read the answer. */
const LINGER = 500;

const CODE_BY_PARSER_ERROR: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

export interface NodeErrorOptions {
  /** Headers that every answer carries, made anew for each; the request where its head was received. */
  readonly headers: (request: IncomingMessage | undefined) => Record<string, string>;
  /** Told of each refusal, for the log. */
  readonly onRefused?: (error: ErrorCode, headers: Readonly<Record<string, string>>) => void;
  /** True for an error that is none, since whoever brought it about goes on from there. */
  readonly isHandled?: (error: NodeJS.ErrnoException, socket: Duplex) => boolean;
  /** Where requests wait to be served: ends the connection after them, and returns true; false where none waits. */
  readonly endAfterWaiting?: (socket: Duplex) => boolean;
}

/**
 * Gives the error envelope to the requests that Node's HTTP parser answers before any handler runs, with an empty body
 * if left alone: malformed HTTP, headers too large, requests not received in time, CONNECT.
 */
export function answerNodeErrors(server: Server, options: NodeErrorOptions): void {
  /** The last answer on each connection. */
  const last = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    last.set(request.socket, response),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket: AnsweringSocket) => {
    if (options.isHandled?.(error, socket)) return;
    const answer = socket._httpMessage;
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    // The request whose rest is missing or malformed was answered before it had arrived: one answer is enough.
    else if (!answer && last.get(socket)?.req.complete === false) socket.destroy();
    else refuseNext(socket, CODE_BY_PARSER_ERROR[error.code ?? ''] ?? 'VALIDATION_ERROR', answer?.req);
  });
  server.on('connect', (request: IncomingMessage, socket: AnsweringSocket) =>
    refuseNext(socket, 'VALIDATION_ERROR', request),
  );

  /** Refuses what follows on a connection. Requests that were received in full get their own answers, and no other. */
  function refuseNext(socket: AnsweringSocket, error: ErrorCode, request?: IncomingMessage): void {
    const answer = socket._httpMessage;
    if (options.endAfterWaiting?.(socket)) return;
    if (answer?.req.complete) closeAfter(answer, socket);
    // Once the head of an answer is out, a second one would be read as its body.
    else if (answer?.headersSent) socket.destroy();
    else refuse(socket, error, options, request);
  }
}

function closeAfter(answer: ServerResponse, socket: Duplex): void {
  if (!answer.headersSent) answer.setHeader('Connection', 'close');
  answer.once('finish', () => socket.end());
}

/** Writes the answer for a code straight to a socket, closes it, and destroys it after a moment. */
export function refuse(
  socket: Duplex,
  error: ErrorCode,
  options: NodeErrorOptions,
  request?: IncomingMessage,
): void {
  const { status, body, headers } = answerFor(error);
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

/** Node keeps the answer in progress here; its own default handler reads it too. */
type AnsweringSocket = Duplex & { _httpMessage?: ServerResponse | null };
