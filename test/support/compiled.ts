import { join } from 'node:path';
import type * as Core from '@nestjs/core';
import type * as TypeOrm from 'typeorm';
import type * as Auth from '../../libs/auth/src/index.js';
import type * as HttpEdge from '../../libs/http-edge/src/index.js';
import type * as Transports from '../../libs/messages/src/transports/index.js';
import type * as AccessToken from '../../src/access-token/index.js';
import type * as ApiDocs from '../../src/api-docs/index.js';
import type * as App from '../../src/app.module.js';
import type * as Config from '../../src/config.js';
import type * as TimeLog from '../../src/time-log/index.js';
import type * as LargeAnswersFile from '../../src/time-log/wire/large-answers.js';

/*
 * The compiled service, for tests that speak HTTP to it: `node src/run.mjs` compiles it, and `npm test` begins with that. Jest
 * evaluates every module again for each test file; these are loaded once for all files of a worker.
 */

/** What test-environment.mjs gives to test files. */
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

const from = {
  accessToken: (await compiled('src/access-token/index.js')) as typeof AccessToken,
  apiDocs: (await compiled('src/api-docs/index.js')) as typeof ApiDocs,
  app: (await compiled('src/app.module.js')) as typeof App,
  auth: (await compiled('libs/auth/src/index.js')) as typeof Auth,
  config: (await compiled('src/config.js')) as typeof Config,
  httpEdge: (await compiled('libs/http-edge/src/index.js')) as typeof HttpEdge,
  largeAnswers: (await compiled('src/time-log/wire/large-answers.js')) as typeof LargeAnswersFile,
  timeLog: (await compiled('src/time-log/index.js')) as typeof TimeLog,
  transports: (await compiled('libs/messages/src/transports/index.js')) as typeof Transports,
};

export const { AccessTokenService, AccessTokenVerifier } = from.accessToken;
export const { openApiText } = from.apiDocs;
export const { AppModule, defaultScopes, errors, scopes, tags } = from.app;
export const { AUTH_OPTIONS } = from.auth;
export const { loadConfig } = from.config;
export const { EdgeAdapter, UnreadAnswers } = from.httpEdge;
export const { LargeAnswers } = from.largeAnswers;
export const { Page, Period, TimeLogIds, TimeLogService } = from.timeLog;
export const { connectMessages } = from.transports;
