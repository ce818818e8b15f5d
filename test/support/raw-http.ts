import { connect } from 'node:net';

/** An answer of the service, however it was asked for. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The text read as JSON; undefined where it is none. */
  readonly body: unknown;
}

/** Writes bytes to a port of loopback and reads until the server closes, or until there is enough. */
export function sendRaw(
  port: number,
  bytes: string | Buffer,
  isEnough: (received: string) => boolean = () => false,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const finish = () => {
      socket.destroy();
      resolve(received);
    };
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received += chunk;
      if (isEnough(received)) finish();
    });
    socket.on('end', finish);
    socket.on('close', finish);
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') finish();
      else reject(error);
    });
  });
}

/** The text of a request of these lines, of which the first is the request line. */
export function rawRequest(...lines: string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Whether a whole answer is there. */
export function hasAnswer(received: string): boolean {
  return answersIn(received).length > 0;
}

/**
 * The answers that are there in full, in their order, without `100 Continue`; the answer to HEAD ends with its
 * headers.
 */
export function answersIn(received: string, method = 'GET'): Answer[] {
  const answers: Answer[] = [];
  for (let start = 0; ;) {
    const end = received.indexOf('\r\n\r\n', start) + 4;
    if (end < 4) return answers;
    const [statusLine = '', ...lines] = received.slice(start, end - 4).split('\r\n');
    const headers = new Headers(lines.map((line) => splitAt(line, line.indexOf(':'))));
    const body = method === 'HEAD' ? { bytes: '', next: end } : bodyAt(received, end, headers);
    if (body === undefined) return answers;
    const status = Number(statusLine.split(' ')[1]);
    const text = Buffer.from(body.bytes, 'latin1').toString();
    if (status !== 100) answers.push({ status, headers, text, body: parsed(text) });
    start = body.next;
  }
}

/** The body that begins at a place, and where the next answer does; undefined where it is not there in full. */
function bodyAt(
  received: string,
  start: number,
  headers: Headers,
): { bytes: string; next: number } | undefined {
  if (headers.get('transfer-encoding') !== 'chunked') {
    const next = start + Number(headers.get('content-length'));
    return next > received.length ? undefined : { bytes: received.slice(start, next), next };
  }
  let bytes = '';
  for (let at = start; ;) {
    const [line, size = ''] = /^([\da-f]+)\r\n/.exec(received.slice(at)) ?? [];
    if (line === undefined) return undefined;
    const [from, length] = [at + line.length, Number.parseInt(size, 16)];
    at = from + length + 2;
    if (at > received.length) return undefined;
    if (length === 0) return { bytes, next: at };
    bytes += received.slice(from, from + length);
  }
}

/** The text read as JSON; undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function splitAt(line: string, colon: number): [name: string, value: string] {
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}
