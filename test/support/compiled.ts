import { join } from 'node:path';
import type * as Core from '@nestjs/core';
import type * as TypeOrm from 'typeorm';
import type * as HttpEdge from '../../libs/http-edge/src/index.js';
import type * as Transports from '../../src/messages/transports/index.js';
import type * as AccessToken from '../../src/access-token/index.js';
import type * as App from '../../src/app.module.js';
import type * as Backup from '../../src/backup/index.js';
import type { Command } from '../../src/commands/run-command.js';
import type * as RunCommand from '../../src/commands/run-command.js';
import type * as Config from '../../src/process/config.js';
import type * as DatabaseSetup from '../../src/database/setup/index.js';
import type * as DatabaseIndex from '../../src/database/index.js';
import type * as Feed from '../../src/feed/index.js';
import type * as Serve from '../../src/process/serve.js';
import type * as TimeLog from '../../src/time-log/index.js';

/*
 * The compiled service, for tests that speak HTTP to it; every test run compiles it first (global-setup.mjs). Jest
 * evaluates every module again for each test file; these are loaded once for all files of a worker.
 */

/** The globals of test-environment.mjs for test files. */
declare global {
  /** Imports a module outside of Jest's own modules. */
  var importOnce: (specifier: string) => Promise<unknown>;
  /** The global object of these modules. */
  var serviceGlobal: typeof globalThis;
}

const COMPILED = join(import.meta.dirname, '..', '..', 'dist');
const compiled = (path: string) => importOnce(join(COMPILED, path));

export const { NestFactory } = (await importOnce('@nestjs/core')) as typeof Core;
export const { DataSource } = (await importOnce('typeorm')) as typeof TypeOrm;
// A start that failed in an earlier file leaves the name of its data source behind. The next one would log a warning.
const registry = join(COMPILED, '..', 'node_modules/@nestjs/typeorm/dist/data-source-name.registry.js');
((await importOnce(registry)) as { DataSourceNameRegistry: Set<string> }).DataSourceNameRegistry.clear();

const from = {
  accessToken: (await compiled('src/access-token/index.js')) as typeof AccessToken,
  app: (await compiled('src/app.module.js')) as typeof App,
  backup: (await compiled('src/backup/index.js')) as typeof Backup,
  config: (await compiled('src/process/config.js')) as typeof Config,
  database: (await compiled('src/database/index.js')) as typeof DatabaseIndex,
  databaseSetup: (await compiled('src/database/setup/index.js')) as typeof DatabaseSetup,
  feed: (await compiled('src/feed/index.js')) as typeof Feed,
  httpEdge: (await compiled('libs/http-edge/src/index.js')) as typeof HttpEdge,
  runCommand: (await compiled('src/commands/run-command.js')) as typeof RunCommand,
  serve: (await compiled('src/process/serve.js')) as typeof Serve,
  timeLog: (await compiled('src/time-log/index.js')) as typeof TimeLog,
  transports: (await compiled('src/messages/transports/index.js')) as typeof Transports,
};

export const { accessTokenMigrations, AccessTokenService } = from.accessToken;
export const { AppModule, defaultScopes, entities, migrations, scopes } = from.app;
export const { backup, checkBackup } = from.backup;
export const { loadConfig } = from.config;
export const { Database } = from.database;
export const { migrate, openDatabase, plainOptions } = from.databaseSetup;
export const { EdgeAdapter } = from.httpEdge;
export const { execute } = from.runCommand;
export const { serve } = from.serve;
export const { LargeLists, TimeLogCounts, timeLogEntities, timeLogMigrations, TypeOrmTimeLogRepository } =
  from.timeLog;
export const { parseEventId, TypeOrmFeedRepository, unreachedTimeLogPosition } = from.feed;
export const { connectMessages } = from.transports;

const COMMANDS = ['backup', 'counts', 'drop', 'forget', 'migrate', 'restore', 'token'] as const;
export type CommandName = (typeof COMMANDS)[number];

/** The commands, by the names that npm knows them by. */
export const commands = Object.fromEntries(
  await Promise.all(
    COMMANDS.map(async (name) => {
      const module = (await compiled(`src/commands/${name}.command.js`)) as Record<string, Command>;
      return [name, module[`${name}Command`]!] as const;
    }),
  ),
) as Record<CommandName, Command>;
