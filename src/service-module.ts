import type { DynamicModule, INestApplication, Provider, Type } from '@nestjs/common';
import type { DataSourceOptions, MigrationInterface, QueryRunner } from 'typeorm';
import type { TokenVerifier } from '../libs/auth/src/index.js';
import type { Config } from './process/config.js';
import type { LoggedMessage, ServiceLogger } from './process/service-logger.js';
import type { AttributeType } from './time-log/index.js';

/** Values that a module passes from a backup to its restore, under its own keys. */
export type BackupMetadata = Record<string, string>;

/** The attributes that a file describes. */
export interface AttributesDefinition {
  readonly filters: ReadonlyMap<string, AttributeType>;
}

/** The package that gives logs attributes. */
export interface AttributesPackage {
  /** Reads a JSON Schema. Throws a one-line Error. */
  read(path: string): Promise<AttributesDefinition>;
  /** Returns the providers that replace those of time logs. */
  providers(definition: AttributesDefinition): Provider[];
  /** Returns the value of an attribute from its text in a query. Throws an Error that names its rule. */
  parse(name: string, type: AttributeType, text: string): string | number | boolean;
  /** Creates and drops indexes, so that these filters have one. Returns a line for each. */
  updateIndexes(runner: QueryRunner, filters: Iterable<string>, signal?: AbortSignal): Promise<string[]>;
  /** Adds the attributes to the OpenAPI document. */
  describe(document: string, definition: AttributesDefinition): string;
}

/** The attributes of this service, for its modules. */
interface ServiceAttributes extends AttributesDefinition {
  readonly providers: Provider[];
  readonly describe: (document: string) => string;
}

/** The settings from which a module is built. */
export interface ModuleSettings extends Config {
  /** The scopes of a new token if none are specified. */
  readonly defaultScopes: readonly string[];
  /** Undefined: logs have no attributes. */
  readonly attributes: ServiceAttributes | undefined;
  /** Called after each message, for the access log. */
  readonly onMessage?: ((message: LoggedMessage) => void) | undefined;
}

/** A module of the service: its Nest module and its contributions to other parts. */
export interface ServiceModule {
  /**
   * Returns its Nest module, which may import `dependency`, the Nest module of `dependsOn`.
   * Returns undefined if the settings do not enable it.
   */
  readonly bind: (
    settings: ModuleSettings,
    dependency: Type | DynamicModule,
  ) => Type | DynamicModule | undefined;
  /** A module that this one builds on. It comes earlier in MODULES. */
  readonly dependsOn?: ServiceModule;
  /** The prefix of its paths, such as `api/v1`. */
  readonly prefix?: string;
  /** Its entities, for the DataSource. */
  readonly entities?: Extract<DataSourceOptions['entities'], unknown[]>;
  /** The migrations that create its tables, in order. */
  readonly migrations?: readonly Type<MigrationInterface & { readonly name: string }>[];
  /** Returns the values that a backup stores in addition to its rows. */
  readonly backupMetadata?: (runner: QueryRunner) => Promise<BackupMetadata>;
  /** Adapts restored rows to this server, in the transaction of the restore. */
  readonly afterRestore?: (runner: QueryRunner, metadata: BackupMetadata) => Promise<void>;
  /** The scopes that a token can have. A new token gets the default ones. */
  readonly scopes?: readonly {
    readonly name: string;
    readonly isDefault?: boolean;
    /** Whether the first token of an embedded database, which is the operator's, has it too. */
    readonly isForFirstToken?: boolean;
  }[];
  /** The token verifier that its Nest module exports, and the tokens that it verifies. */
  readonly verifier?: { readonly provide: Type<TokenVerifier>; readonly accepts: (token: string) => boolean };
  /** Connects it to its transport or broker once the service listens. Throws a one-line Error. */
  readonly connect?: (app: INestApplication, settings: Config, process: ServiceProcess) => Promise<void>;
  /** Returns whether and where it is connected, for the log. It never contains a password. */
  readonly describeConnection?: (settings: Config) => string;
}

/** The services of the process for its modules. */
interface ServiceProcess {
  readonly logger: ServiceLogger;
}
