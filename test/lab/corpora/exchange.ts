import { connect } from 'node:net';

/**
 * Milliseconds: without an answer for so long a request hangs; what may be half a request is ended when nothing came
 * for so long.
 */
const LIMITS = { answer: 5_000, quiet: 250 };

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Exchange {
  /** In their order, without `100 Continue`. */
  readonly answers: readonly Answer[];
  /** Neither answered nor closed within the limit. */
  readonly isHung: boolean;
}

/**
 * Writes bytes on a connection of their own. For a whole request the first answer ends the exchange; other bytes may
 * be half a request or several, so it ends when the service closes, for which it is told after a while that no more
 * will come.
 */
export function exchange(port: number, bytes: Buffer, isWhole: boolean): Promise<Exchange> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let quiet: NodeJS.Timeout | undefined;
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const finish = (isHung: boolean) => {
      clearTimeout(limit);
      clearTimeout(quiet);
      // Thousands of closed connections would otherwise hold their ports for a minute.
      socket.resetAndDestroy();
      resolve({ answers: answersIn(Buffer.concat(chunks)), isHung });
    };
    const limit = setTimeout(() => finish(true), LIMITS.answer);
    const listen = () => {
      clearTimeout(quiet);
      if (!isWhole) quiet = setTimeout(() => socket.end(), LIMITS.quiet);
    };
    socket.on('connect', () => socket.write(bytes, listen));
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      listen();
      if (isWhole && answersIn(Buffer.concat(chunks)).length > 0) finish(false);
    });
    // The service may well cut what it does not like; what it said before counts.
    socket.on('error', () => undefined);
    socket.on('close', () => finish(false));
  });
}

/** The answers that are there in full, each with the Content-Length that every answer of the service has. */
function answersIn(bytes: Buffer): Answer[] {
  const answers: Answer[] = [];
  for (let start = 0; ;) {
    const end = bytes.indexOf('\r\n\r\n', start);
    if (end < 0) return answers;
    const [statusLine = '', ...lines] = bytes.toString('latin1', start, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const status = Number(statusLine.split(' ')[1]);
    const next = end + 4 + Number(headers['content-length'] ?? 0);
    if (next > bytes.length) return answers;
    if (status !== 100) answers.push({ status, headers, body: bytes.toString('utf8', end + 4, next) });
    start = next;
  }
}
