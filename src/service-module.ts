import type { DynamicModule, INestApplication, Type } from '@nestjs/common';
import type { DataSourceOptions, MigrationInterface, QueryRunner } from 'typeorm';
import type { TokenVerifier } from '../libs/auth/src/index.js';
import type { CorsHeaders } from '../libs/http-edge/src/index.js';
import type { Config } from './process/config.js';
import type { LoggedMessage, ServiceLogger } from './process/logging.js';
import type { Tracing } from './process/tracing.js';

/** What a module passes from a backup to its restore, by names of its own. */
export type Notes = Record<string, string>;

/** The settings that a module is bound with. */
export interface ModuleSettings extends Config {
  /** The scopes of a token for which none are named. */
  readonly defaultScopes: readonly string[];
  /** The access log of messages. */
  readonly onMessage?: ((message: LoggedMessage) => void) | undefined;
}

/** A module of the service: its Nest module, and what other parts of the service need to know about it. */
export interface ServiceModule {
  /** Returns its Nest module, over that of `over`; undefined if the settings do not enable it. */
  readonly bind: (settings: ModuleSettings, over: Type | DynamicModule) => Type | DynamicModule | undefined;
  /** The module that it stands over, which comes before it. */
  readonly over?: ServiceModule;
  /** The start of its paths, such as `api/v1`. */
  readonly prefix?: string;
  /** Its entities, for the DataSource. */
  readonly entities?: Extract<DataSourceOptions['entities'], unknown[]>;
  /** The migrations that make its tables, in order. */
  readonly migrations?: readonly Type<MigrationInterface & { readonly name: string }>[];
  /** Returns what a backup must contain in addition to its rows, in the transaction of the runner. */
  readonly note?: (runner: QueryRunner) => Promise<Notes>;
  /** Adapts rows that came from another server, in the transaction of a restore. */
  readonly afterRestore?: (runner: QueryRunner, notes: Notes) => Promise<void>;
  /** The scopes that a token can have. New tokens get the default ones unless others are named. */
  readonly scopes?: readonly {
    readonly name: string;
    readonly isDefault?: boolean;
    /** The first token of an embedded database has it too: it belongs to the operator. */
    readonly isOfFirstToken?: boolean;
  }[];
  /** The names of the headers of its routes that pages of other origins may send and read. */
  readonly headers?: Partial<CorsHeaders>;
  /** The verifier of bearer tokens that its Nest module exports, and which tokens it gets. */
  readonly verifier?: { readonly provide: Type<TokenVerifier>; readonly accepts: (token: string) => boolean };
  /** Connects it to the outside once the service listens for HTTP. Throws an Error with one line that says what to do. */
  readonly connect?: (app: INestApplication, settings: Config, process: ServiceProcess) => Promise<void>;
  /** Says in a few words whether and where it is connected, without a password. */
  readonly describeConnection?: (settings: Config) => string;
}

/** What the process provides to its modules. */
interface ServiceProcess {
  readonly logger: ServiceLogger;
  readonly tracing: Tracing | undefined;
}
