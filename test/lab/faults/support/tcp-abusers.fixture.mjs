// Abuses the port for messages without a valid token, in a process of its own, until a signal. A closed connection is
// opened again. The argument: { port, kind, connections }. It prints `begun` when all have been open once.
import { connect } from 'node:net';

/** Milliseconds before a connection that was cut is opened again. */
const RECONNECT_DELAY_MS = 50;

const { port, kind, connections } = JSON.parse(process.argv[2]);

const framed = (text) => Buffer.from(`${text.length}#${text}`);
const message = (accessToken, query) =>
  JSON.stringify({ pattern: 'time-log.list.v1', data: { accessToken, query }, id: '1' });
/** As many `{}` as have so many bytes. */
const objects = (bytes) => `[{}${',{}'.repeat(bytes / 3)}]`;
const many = (bytes) => Buffer.concat(Array(500).fill(bytes));

const kinds = {
  /** Messages that do not end, with characters of three bytes: 5.7 MB. */
  wide: (socket) => socket.write(`2000000#${'€'.repeat(1_900_000)}`),
  /** Tokens that must be looked up. */
  guesses: (socket) => flood(socket, many(framed(message(`tl_${'A'.repeat(43)}`)))),
  /** As much as is answered. */
  large: (socket) => flood(socket, framed(message('wrong', '|').replace('"|"', objects(1_000_000)))),
};

/** Sends the same bytes again and again, as fast as they are taken. */
function flood(socket, bytes) {
  const more = () => {
    while (socket.writable && socket.write(bytes));
  };
  socket.on('drain', more);
  more();
}

/** Resolves when a connection has been there for the first time. */
function come() {
  return new Promise((resolve) => {
    const again = () => {
      const socket = connect({ port, host: '127.0.0.1' }).resume();
      socket.on('error', () => undefined);
      socket.on('connect', () => {
        kinds[kind](socket);
        resolve();
      });
      socket.on('close', () => setTimeout(again, RECONNECT_DELAY_MS));
    };
    again();
  });
}

await Promise.all(Array.from({ length: connections }, come));
process.send('begun');
process.on('disconnect', () => process.exit());
