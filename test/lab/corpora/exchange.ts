import { connect } from 'node:net';
import { type Answer, answersIn } from '../../support/raw-http.js';

/**
 * Milliseconds: without an answer for so long a request hangs; what may be half a request is ended when nothing came
 * for so long.
 */
const LIMITS = { answer: 5_000, quiet: 250 };

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
    let received = '';
    let quiet: NodeJS.Timeout | undefined;
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const finish = (isHung: boolean) => {
      clearTimeout(limit);
      clearTimeout(quiet);
      // Thousands of closed connections would otherwise hold their ports for a minute.
      socket.resetAndDestroy();
      resolve({ answers: answersIn(received), isHung });
    };
    const limit = setTimeout(() => finish(true), LIMITS.answer);
    const listen = () => {
      clearTimeout(quiet);
      if (!isWhole) quiet = setTimeout(() => socket.end(), LIMITS.quiet);
    };
    socket.on('connect', () => socket.write(bytes, listen));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      listen();
      if (isWhole && answersIn(received).length > 0) finish(false);
    });
    // The service may well cut what it does not like; what it said before counts.
    socket.on('error', () => undefined);
    socket.on('close', () => finish(false));
  });
}
