import type { AddressInfo, Server } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
import {
  type ArgumentsHost,
  Catch,
  type DynamicModule,
  type ExceptionFilter,
  HttpException,
  type INestApplication,
  Module,
  type ModuleMetadata,
  type PipeTransform,
} from '@nestjs/common';
import { NestFactory, RouterModule } from '@nestjs/core';
import { Transport } from '@nestjs/microservices';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Response } from 'express';
import { TimeLogModule } from '../../src/embedding/index.js';
import { sendUnchecked } from '../support/requests.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';

/** As many hosts have one: rebuilds whatever it is given. */
export class CopyingPipe implements PipeTransform {
  transform(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.transform(member)]));
  }
}

/** A DataSource of a host that knows nothing of time logs by itself. */
export function hostDataSource(url: string, name?: string): DynamicModule {
  return TypeOrmModule.forRoot({
    type: 'postgres',
    url,
    autoLoadEntities: true,
    poolErrorHandler: () => undefined,
    ...(name !== undefined && { name }),
  });
}

/** The port on which a host takes messages over TCP. */
export function tcpPortOf(app: INestApplication): number {
  return (app.getMicroservices()[0]!.unwrap<Server>().address() as AddressInfo).port;
}

/** The port on which a host listens. */
export function portOf(app: INestApplication): number {
  return (app.getHttpServer() as { address(): AddressInfo }).address().port;
}

/** Answers exceptions in the form of a host. */
@Catch(HttpException)
export class HostFilter implements ExceptionFilter {
  catch(error: HttpException, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Response>().status(error.getStatus()).json({ host: error.message });
  }
}

interface Serving {
  /** The path of TimeLogModule: `api/v1` by default. */
  readonly path?: string;
  readonly bodyParser?: boolean;
  /** Whether it takes messages over TCP too. */
  readonly hasMessages?: boolean;
  /** Binds what the host has for its whole app. */
  readonly prepare?: (app: INestApplication) => unknown;
}

/** The body of an answer about one log. */
interface Body {
  readonly data?: { readonly id: string; readonly createdAt: string };
  readonly error?: string;
  readonly message?: string;
}

/** Hosts with time logs, one at a time, with a migrated database. */
class Hosts {
  database!: TestDatabase;
  /** The host that was started last. */
  app!: INestApplication;
  private isServing = false;

  /** Starts a host of some modules on loopback, after the one before it has ended. */
  async serve(
    imports: NonNullable<ModuleMetadata['imports']>,
    serving: Serving = {},
  ): Promise<INestApplication> {
    await this.close();
    const { path = 'api/v1', bodyParser = true, hasMessages = false, prepare } = serving;
    const routes = RouterModule.register([{ path, module: TimeLogModule }]);
    @Module({ imports: [...imports, routes] })
    class HostModule {}
    const options = { logger: false, abortOnError: false, bodyParser } as const;
    this.app = await NestFactory.create(HostModule, options);
    this.isServing = true;
    prepare?.(this.app);
    const address = { host: '127.0.0.1', port: 0 };
    if (hasMessages)
      this.app.connectMicroservice(
        { transport: Transport.TCP, options: address },
        { inheritAppConfig: true },
      );
    await this.app.listen(0, '127.0.0.1');
    if (hasMessages) await this.app.startAllMicroservices();
    return this.app;
  }

  /** Ends the host, if one is running. */
  async close(): Promise<void> {
    if (this.isServing) await this.app.close();
    this.isServing = false;
  }

  /** Sends a request to the host. Resolves with the status and the body of the answer. */
  async send<T = Body>(method: string, path: string, body?: unknown, headers = {}): Promise<[number, T]> {
    const target = { port: portOf(this.app), token: '' };
    const answer = await sendUnchecked(target, method, path, body, { authorization: undefined, ...headers });
    return [answer.status, answer.body as T];
  }
}

/** Hosts for the tests of a file or a `describe` block, after which the last one is ended. */
export function useHosts(): Hosts {
  const hosts = new Hosts();
  beforeAll(async () => {
    hosts.database = await createMigratedDatabase();
  });
  afterAll(async () => {
    await hosts.close();
    await hosts.database.drop();
  });
  return hosts;
}
