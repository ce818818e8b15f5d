import { expect } from '@jest/globals';
import { type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { BearerAuthModule } from '../../libs/auth/src/index.js';
import { connectionOptions, migrate } from '../../src/database/setup/index.js';
import {
  eventRelayEntities,
  eventRelayMigrations,
  EventRelayModule,
  type EventSink,
} from '../../src/event-relay/index.js';
import { TimeLogModule } from '../../src/embedding/index.js';
import { timeLogEntities, timeLogMigrations, TimeLogService } from '../../src/time-log/index.js';
import { eventually } from '../support/eventually.js';
import { firstColumn } from '../support/postgres-cluster.js';

/** An app of somebody else that records logs and relays their events into a sink of its own. */
export interface RelayHost {
  readonly app: INestApplicationContext;
  readonly timeLogs: TimeLogService;
  /** Its logged errors, and the lines about their ends. */
  readonly lines: readonly string[];
  close(): Promise<void>;
}

/** The service polls once a second. */
const POLL_MS = 30;

export async function migrateForRelay(url: string): Promise<void> {
  await migrate({ url, migrations: [...timeLogMigrations, ...eventRelayMigrations] });
}

/** Resolves when an instance has renewed the lease of the relay. */
export async function renewed(url: string): Promise<void> {
  const until = () => firstColumn(url, 'select leased_until::text from time_log_relays');
  const before = await until();
  await eventually(async () => expect(await until()).not.toEqual(before));
}

export async function startRelayHost(url: string, sink: EventSink): Promise<RelayHost> {
  const module = TimeLogModule.forRoot({});
  @Module({
    imports: [
      TypeOrmModule.forRoot(
        connectionOptions(url, [...timeLogEntities, ...eventRelayEntities], { poolSize: 4, deadline: 2_500 }),
      ),
      BearerAuthModule.forRoot({ verifier: { verify: () => Promise.resolve(undefined) }, realm: 'host' }),
      module,
      EventRelayModule.over(module, { useValue: sink }, { pollMs: POLL_MS }),
    ],
  })
  class HostModule {}

  const lines: string[] = [];
  const note = (line: unknown) => void lines.push(String(line));
  const nothing = () => undefined;
  const logger = { log: note, error: note, warn: note, debug: nothing, verbose: nothing };
  const app = await NestFactory.createApplicationContext(HostModule, { logger, abortOnError: false });
  return {
    app,
    timeLogs: app.get(TimeLogService),
    get lines() {
      return lines.filter((line) => /event|feed/.test(line));
    },
    close: () => app.close(),
  };
}
