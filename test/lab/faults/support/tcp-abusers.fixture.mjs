// Abuses the port for messages without a valid token, in a process of its own, until it is told to end. Whoever is cut
// comes again. The argument: { port, kind, connections }. It says `begun` when all have been there for the first time.
// Of the kind `passing` so many connections come each second, say nothing, and do not come again.
import { connect } from 'node:net';

/** Milliseconds before a connection that was cut is opened again. */
const PAUSE = 50;

const { port, kind, connections } = JSON.parse(process.argv[2]);

const framed = (text) => Buffer.from(`${text.length}#${text}`);
const message = (accessToken, query) =>
  JSON.stringify({ pattern: 'time-log.list.v1', data: { accessToken, query }, id: '1' });
/** As many `{}` as have so many bytes. */
const objects = (bytes) => `[{}${',{}'.repeat(bytes / 3)}]`;
const many = (bytes) => Buffer.concat(Array(500).fill(bytes));

const kinds = {
  /** Says nothing. */
  idle: () => undefined,
  /** Messages that do not end, with characters of three bytes: 5.7 MB of a larger one than is answered, and 1 MB. */
  wide: (socket) => socket.write(`2000000#${'€'.repeat(1_900_000)}`),
  half: (socket) => socket.write(`1000000#${'€'.repeat(340_000)}`),
  small: (socket) => flood(socket, many(framed(message('wrong')))),
  /** Tokens that must be looked up. */
  guesses: (socket) => flood(socket, many(framed(message(`tl_${'A'.repeat(43)}`)))),
  /** More than is answered. */
  huge: (socket) => flood(socket, framed(objects(1_800_000))),
  /** As much as is answered, and as much as a message may be. */
  large: (socket) => flood(socket, framed(message('wrong', '|').replace('"|"', objects(1_000_000)))),
  medium: (socket) => flood(socket, framed(message('wrong', '|').replace('"|"', objects(60_000)))),
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
      socket.on('close', () => setTimeout(again, PAUSE));
    };
    again();
  });
}

/** Opens silent connections at a rate. Resolves when it has opened those of the first half second. */
function pass() {
  const begun = performance.now();
  let opened = 0;
  return new Promise((resolve) => {
    setInterval(() => {
      const due = ((performance.now() - begun) / 1_000) * connections;
      for (; opened < due; opened++) {
        connect({ port, host: '127.0.0.1' })
          .resume()
          .on('error', () => undefined);
      }
      if (opened > connections / 2) resolve();
    }, 5);
  });
}

if (kind === 'passing') await pass();
else await Promise.all(Array.from({ length: connections }, come));
process.send('begun');
process.on('disconnect', () => process.exit());
