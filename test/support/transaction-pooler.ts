import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { eachMessage } from './postgres-messages.js';

/** The request of a client to speak TLS, which is declined (PostgreSQL, message formats). */
const SSL_REQUEST = 80877103;
const IDLE = 'I'.charCodeAt(0);
const [TERMINATE, READY] = ['X', 'Z'].map((type) => type.charCodeAt(0));

/**
 * A pooler in transaction mode: a session of the server is a client's for one transaction, and then the next client's,
 * with all that the session holds. It asks for no password, and takes one database and one role.
 */
export class TransactionPooler {
  private readonly server: Server = createServer((client) => this.serve(client));
  private readonly sessions: Session[] = [];
  private readonly waiting: ((session: Session) => void)[] = [];

  private constructor(
    private readonly socketPath: string,
    private readonly startup: Record<string, string>,
  ) {}

  /** Opens so many sessions, which stay open, and listens on loopback. */
  static async open(databaseUrl: string, size: number): Promise<TransactionPooler> {
    const [, user, directory, database] = /\/\/([^@]+)@([^/]+)\/(.+)$/.exec(databaseUrl)!;
    const path = `${decodeURIComponent(directory!)}/.s.PGSQL.5432`;
    const pooler = new TransactionPooler(path, { user: user!, database: database! });
    for (let number = 0; number < size; number++) await pooler.openSession();
    pooler.server.listen(0, '127.0.0.1');
    await once(pooler.server, 'listening');
    return pooler;
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return `postgres://${this.startup.user}@127.0.0.1:${port}/${this.startup.database}`;
  }

  close(): void {
    this.server.close();
    for (const session of this.sessions) session.socket.destroy();
  }

  private async openSession(): Promise<void> {
    const session = await Session.open(this.socketPath, this.startup);
    this.sessions.push(session);
    this.handOn(session);
  }

  private handOn(session: Session): void {
    session.onMessage = undefined;
    const next = this.waiting.shift();
    session.isFree = next === undefined;
    next?.(session);
  }

  private async take(): Promise<Session> {
    // The one that has rested longest, as far as may be from the one before.
    const free = this.sessions.find(({ isFree }) => isFree);
    if (!free) return new Promise((resolve) => this.waiting.push(resolve));
    free.isFree = false;
    this.sessions.push(...this.sessions.splice(this.sessions.indexOf(free), 1));
    return free;
  }

  private serve(client: Socket): void {
    let session: Promise<Session> | undefined;
    let isStarted = false;
    const leave = async () => {
      const left = session;
      session = undefined;
      if (!left) return;
      // Gone within a transaction: the server ends it with the session.
      const { socket } = await left;
      this.sessions.splice(this.sessions.indexOf(await left), 1);
      socket.destroy();
      await this.openSession();
    };
    client.on('error', () => undefined).on('close', () => void leave());
    eachMessage(
      client,
      () => !isStarted,
      (message) => {
        if (!isStarted) {
          if (message.readInt32BE(4) === SSL_REQUEST) return void client.write('N');
          isStarted = true;
          return void client.write(WELCOME);
        }
        if (message[0] === TERMINATE) return;
        session ??= this.take().then((taken) => {
          taken.onMessage = (answer) => {
            if (!client.destroyed) client.write(answer);
            if (answer[0] !== READY || answer[5] !== IDLE) return;
            session = undefined;
            this.handOn(taken);
          };
          return taken;
        });
        void session.then(({ socket }) => socket.write(message));
      },
    );
  }
}

/** A session of the server. */
class Session {
  isFree = false;
  onMessage: ((message: Buffer) => void) | undefined;

  private constructor(readonly socket: Socket) {}

  static async open(path: string, startup: Record<string, string>): Promise<Session> {
    const socket = connect(path);
    const session = new Session(socket);
    socket.on('error', () => undefined);
    const text = Object.entries(startup).flatMap(([name, value]) => [name, value]);
    const body = Buffer.from(`${text.join('\0')}\0\0`);
    const head = Buffer.alloc(8);
    head.writeInt32BE(8 + body.length, 0);
    head.writeInt32BE(196608, 4);
    socket.write(Buffer.concat([head, body]));
    await new Promise<void>((resolve) => {
      session.onMessage = ([type]) => type === READY && resolve();
      eachMessage(
        socket,
        () => false,
        (message) => session.onMessage?.(message),
      );
    });
    return session;
  }
}

/** AuthenticationOk, and ReadyForQuery outside a transaction. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, IDLE]);
