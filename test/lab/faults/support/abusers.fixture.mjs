// Abuses a service at fixed rates, in a process of its own, so that its work does not delay those who are measured.
// Messages: begin, count and end. Each is answered with what was done and answered since the begin.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';

const [port, token, ratesAsJson] = process.argv.slice(2);
/** { wrongTokens, aborts } a second, { idle, slow } sockets, the slow ones twice: headers and bodies. */
const rates = JSON.parse(ratesAsJson);
/** Milliseconds between two looks at what is due. */
const TICK = 10;
/** Kept connections for the wrong tokens. */
const CONNECTIONS = 16;
/** Idle sockets that are opened in one tick. */
const OPENED = 10;

const post = `POST /api/v1/time-logs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
const log = JSON.stringify({
  projectId: crypto.randomUUID(),
  duration: 1,
  description: 'aborted',
  date: '2026-01-31',
});

let abuse;

class Abuse {
  counts = { wrongTokens: 0, aborts: 0, idle: 0, timedOut: 0, otherAnswers: [] };
  sockets = new Set();
  /** Connections without a request under way. */
  free = [];
  dawdlers = new Set();

  constructor() {
    const begun = performance.now();
    const due = { wrongTokens: 0, aborts: 0 };
    for (let i = 0; i < CONNECTIONS; i++) this.openGuesser();
    for (let i = 0; i < rates.slow; i++) {
      this.dawdle(post, 'X-Slow: x\r\n');
      this.dawdle(`${post}Content-Length: 1000\r\n\r\n{`, ' ');
    }
    this.ticking = setInterval(() => {
      const seconds = (performance.now() - begun) / 1_000;
      // Where all are waiting for an answer, what is due stays due.
      for (; due.wrongTokens < seconds * rates.wrongTokens && this.free.length > 0; due.wrongTokens++)
        this.guess();
      for (; due.aborts < seconds * rates.aborts; due.aborts++) this.abort();
      for (let i = 0; i < OPENED && this.counts.idle < rates.idle; i++) {
        this.counts.idle++;
        this.open();
      }
    }, TICK);
    this.dripping = setInterval(() => {
      for (const { socket, drop } of this.dawdlers) if (socket.writable) socket.write(drop);
    }, 1_000);
  }

  open() {
    const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    return socket;
  }

  /** A connection that asks with one wrong token after the other. */
  openGuesser() {
    const socket = this.open();
    socket.on('connect', () => this.free.push(socket));
    socket.on('data', (answer) => {
      this.counts.wrongTokens++;
      this.expect(answer, 401);
      this.free.push(socket);
    });
  }

  guess() {
    const guessed = `tl_${randomBytes(32).toString('base64url')}`;
    this.free
      .pop()
      .write(`GET /api/v1/time-logs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${guessed}\r\n\r\n`);
  }

  /** A whole create, whose client is gone before the answer. */
  abort() {
    const socket = this.open();
    this.counts.aborts++;
    socket.on('connect', () =>
      socket.write(`${post}Content-Length: ${log.length}\r\n\r\n${log}`, () => socket.resetAndDestroy()),
    );
  }

  /** A request of which a drop comes each second, made again whenever the service has had enough of it. */
  dawdle(beginning, drop) {
    const socket = this.open();
    const dawdler = { socket, drop };
    // Goes out before any drop, as soon as there is a connection.
    socket.write(beginning);
    socket.on('data', (answer) => {
      this.counts.timedOut++;
      this.expect(answer, 408);
    });
    socket.on('close', () => {
      if (this.dawdlers.delete(dawdler)) this.dawdle(beginning, drop);
    });
    this.dawdlers.add(dawdler);
  }

  expect(answer, status) {
    const line = answer.toString('latin1', 0, 12);
    if (line !== `HTTP/1.1 ${status}`) this.counts.otherAnswers.push(line);
  }

  end() {
    clearInterval(this.ticking);
    clearInterval(this.dripping);
    this.dawdlers.clear();
    for (const socket of this.sockets) socket.destroy();
  }
}

process.on('message', (message) => {
  if (message === 'begin') abuse = new Abuse();
  if (message === 'end') abuse.end();
  process.send(abuse.counts);
});
process.on('disconnect', () => process.exit());
