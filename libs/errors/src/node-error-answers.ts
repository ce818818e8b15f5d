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
}

/**
 * Gives the error envelope to the requests that Node's HTTP parser answers before any handler runs, with an empty body
 * if left alone: malformed HTTP, headers too large, requests not received in time, unknown expectations, CONNECT.
 */
export function answerNodeErrors(server: Server, options: NodeErrorOptions): void {
  /** The last answer on each connection. */
  const last = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    last.set(request.socket, response),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket: AnsweringSocket) => {
    const answer = socket._httpMessage;
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    // The request whose rest is missing or malformed was answered before it had arrived: one answer is enough.
    else if (!answer && last.get(socket)?.req.complete === false) socket.destroy();
    else if (answer?.req.complete) closeAfter(answer);
    // Once the head of an answer is out, a second one would be read as its body.
    else if (answer?.headersSent) socket.destroy();
    else refuse(socket, CODE_BY_PARSER_ERROR[error.code ?? ''] ?? 'VALIDATION_ERROR', options, answer?.req);
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex) =>
    refuse(socket, 'VALIDATION_ERROR', options, request),
  );
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const { status, body, headers } = answerFor('EXPECTATION_FAILED');
    const all = { ...options.headers(request), ...headers };
    options.onRefused?.(body.error, all);
    response.writeHead(status, all).end(JSON.stringify(body));
  });
}

/** What follows a complete request cannot be read; the request itself gets its own answer, and then the connection ends. */
function closeAfter(answer: ServerResponse): void {
  if (!answer.headersSent) answer.setHeader('Connection', 'close');
  answer.once('finish', () => answer.socket?.end());
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
