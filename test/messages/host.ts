import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { NestFactory, RouterModule } from '@nestjs/core';
import type { ClientProxy } from '@nestjs/microservices';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { TypeOrmModule } from '@nestjs/typeorm';
import { BearerAuthModule, type Caller, TokenVerifier } from '../../libs/auth/src/index.js';
import { DomainError } from '../../libs/errors/src/index.js';
import { connectionOptions } from '../../src/database/setup/index.js';
import { connectMessages } from '../../src/messages/transports/index.js';
import { TimeLogModule } from '../../src/embedding/index.js';
import { timeLogEntities, type TimeLogLimits } from '../../src/time-log/index.js';
import { MESSAGE_QUEUE, TimeLogMessagesModule } from '../../src/messages/time-logs/index.js';
import { TIME_LOG_LIMITS } from '../../src/time-log/time-log.limits.js';
import { CopyingPipe, portOf, tcpPortOf } from '../host/embedded.js';
import { eventually } from '../support/eventually.js';
import { type Gate, newGate } from '../support/gate.js';
import { createMigratedDatabase } from '../support/test-database.js';
import { type TestClient, overTransport, tcpClient } from './test-clients.js';

/** The scopes of the tokens of the host. */
const SCOPES: Readonly<Record<string, readonly string[]>> = {
  reader: ['time-logs:read'],
  writer: ['time-logs:write'],
  worker: ['time-logs:read', 'time-logs:write'],
  other: ['time-logs:read', 'time-logs:write'],
};

const ALL_SCOPES = ['time-logs:read', 'time-logs:write', 'time-logs:correct'];

/** The projects of the token `bound`. */
export const BOUND_TO = ['b0000000-0000-4000-8000-00000000000a', 'b0000000-0000-4000-8000-00000000000b'];
/** The projects of tokens for everything. */
const PROJECTS: Readonly<Record<string, readonly string[] | undefined>> = {
  unbound: undefined,
  bound: BOUND_TO.map((id) => id.toUpperCase()),
  'bound-to-none': [],
  'bound-to-101': [...BOUND_TO, ...Array.from({ length: 99 }, () => randomUUID())],
};

class HostTokens extends TokenVerifier {
  readonly asked = newGate();
  readonly answered = newGate();

  override async verify(token: string): Promise<Caller | undefined> {
    if (token === 'silent') return new Promise(() => undefined);
    if (token === 'broken') throw new DomainError('SERVICE_UNAVAILABLE', 'the tokens are out of reach');
    if (token === 'secret') throw new Error('a secret of the host');
    if (token === 'held') {
      this.asked.open();
      await this.answered.opened;
      return { id: token, scopes: ['time-logs:write'] };
    }
    if (token in PROJECTS) return { id: token, scopes: ALL_SCOPES, projects: PROJECTS[token] };
    const scopes = SCOPES[token];
    return scopes && { id: token, scopes };
  }
}

/** An app of somebody else that takes time logs over HTTP and over a transport. */
export interface MessageHost {
  readonly app: NestExpressApplication;
  readonly port: number;
  /** Opens when somebody asks about the token `held`, which is good when the other one is opened. */
  readonly tokens: { readonly asked: Gate; readonly answered: Gate };
  /** The logged lines about the broker. */
  readonly lines: readonly string[];
  /** Once, however often it is called. */
  close(): Promise<void>;
}

/** Starts the host on free ports of loopback, with limits of its own where some are given. */
export async function startMessageHost(
  messagesUrl: string,
  connect = connectMessages,
  limits: Partial<TimeLogLimits> = {},
  acknowledges = true,
): Promise<MessageHost> {
  const module = TimeLogModule.forRoot({ limits });
  const database = await createMigratedDatabase();
  const tokens = new HostTokens();

  @Module({
    imports: [
      TypeOrmModule.forRoot(
        connectionOptions(database.url, timeLogEntities, { poolSize: 3, deadline: 2_500 }),
      ),
      BearerAuthModule.forRoot({ verifier: tokens, realm: 'host' }),
      module,
      TimeLogMessagesModule.over(module, { acknowledges }),
      RouterModule.register([{ path: 'api/v1', module: TimeLogModule }]),
    ],
  })
  class HostModule {}

  const app = await NestFactory.create<NestExpressApplication>(HostModule, {
    logger: false,
    abortOnError: false,
  });
  app.useGlobalPipes(new CopyingPipe());
  // First HTTP: handlers may otherwise run before the hooks of the start.
  await app.listen(0, '127.0.0.1');
  const lines: string[] = [];
  let closed: Promise<void> | undefined;
  await connect(app, {
    url: messagesUrl,
    setting: 'MESSAGES_URL',
    queue: MESSAGE_QUEUE,
    bodyLimit: limits.bodyLimit ?? TIME_LOG_LIMITS.bodyLimit,
    logger: {
      log: (line: string) => lines.push(line),
      error: (line: string) => lines.push(`error: ${line}`),
    },
  });
  return {
    app,
    port: portOf(app),
    tokens,
    lines,
    close: () => (closed ??= app.close().then(() => database.drop())),
  };
}

/** Waits until the host has logged a line a number of times. */
export async function waitForLine({ lines }: MessageHost, line: string | RegExp, times = 1): Promise<void> {
  const isIt = (said: string) => (typeof line === 'string' ? said === line : line.test(said));
  await eventually(() => {
    if (lines.filter(isIt).length < times) throw new Error(`${times} times ${line}: ${lines.join('\n')}`);
  });
}

/** A host that takes messages over TCP, and a client of it. */
export interface TcpHost extends MessageHost {
  /** That of messages. */
  readonly tcpPort: number;
  readonly proxy: ClientProxy;
  readonly testClient: TestClient;
}

export async function startTcpHost(
  limits: Partial<TimeLogLimits> = {},
  connect = connectMessages,
): Promise<TcpHost> {
  const host = await startMessageHost('tcp://127.0.0.1:0', connect, limits);
  const tcpPort = tcpPortOf(host.app);
  const proxy = tcpClient(tcpPort);
  const close = async () => {
    await proxy.close();
    await host.close();
  };
  return { ...host, tcpPort, proxy, testClient: overTransport(proxy), close };
}
