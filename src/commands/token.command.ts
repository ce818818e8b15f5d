import { type AttributesDefinition, parseAttribute } from '../attributes/index.js';
import { MAX_PROJECTS, UUID } from '../../libs/auth/src/index.js';
import {
  accessTokenEntities,
  AccessTokenService,
  firstTokenFile,
  formatMinute,
  type NewAccessToken,
  rotateToken,
  tokenTable,
} from '../access-token/index.js';
import { bindableAttributes, defaultScopes, migrations, readAttributes, scopes } from '../app.module.js';
import { Database } from '../database/index.js';
import { codeOf, migrate, openDataSource, plainOptions } from '../database/setup/index.js';
import { parseOptions, refuseArguments, UsageError } from './command-line.js';
import { type Command, type CommandContext, runAsProgram, withDatabase } from './run-command.js';

/** The messages for a missing table, a missing column and a missing privilege, by SQLSTATE. */
const MESSAGES: Record<string, string> = {
  '42P01': 'the database has no tables yet: run npm run migrate to create them',
  '42703': 'the tables of the database are from an older version: run npm run migrate to update them',
  '42501':
    'the role of DATABASE_URL may not do this: grant it what docker/DATABASE.md lists under Rights, or name the owner',
};
const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

export const tokenCommand: Command = {
  usage: `Usage:
  npm run --silent token -- create --name NAME [--scope SCOPE]... [--project UUID]... [--attribute userId=ada]... [--expires 90d]
  npm run --silent token -- list
  npm run --silent token -- rotate ID [--overlap 1h]
  npm run --silent token -- revoke ID

SCOPE is one of ${scopes.join(', ')}; without --scope a token gets ${defaultScopes.join(' and ')}.
--project restricts the token to a project, or to several (at most ${MAX_PROJECTS}); without it a token has access to all.
--attribute restricts the token to the logs with this value of an attribute, which ATTRIBUTES_SCHEMA must declare as a filter.
--expires takes a number and d, h or m (days, hours, minutes); without it a token does not expire.
rotate replaces the secret of a token, whose id and idempotency keys stay. With --overlap (like --expires) the
earlier secret works that long, otherwise at most 5 seconds. Another rotation ends the overlap.
create and rotate print the token as their last line. It cannot be shown again.`,
  run: async (context) => {
    let filters: AttributeTypes = new Map();
    if (context.args.some((arg) => arg.startsWith('--attribute'))) {
      const config = context.settings();
      if (config.attributesSchema === undefined)
        throw new UsageError('--attribute needs the file that declares the attribute in ATTRIBUTES_SCHEMA');
      filters = bindableAttributes((await readAttributes(config))!);
    }
    return withTokens(context, parse(context.args, filters));
  },
};

/** The file that may hold a token, and a function that gives it to its user. */
interface TokenFile {
  readonly path: string;
  readonly keepOwner: (path: string) => Promise<void>;
}

type TokenAction = (tokens: AccessTokenService, file: TokenFile) => Promise<string>;
type AttributeTypes = AttributesDefinition['filters'];

const CREATE_OPTIONS = {
  name: { type: 'string' },
  scope: { type: 'string', multiple: true },
  project: { type: 'string', multiple: true },
  attribute: { type: 'string', multiple: true },
  expires: { type: 'string' },
} as const;

/** Returns the action of a command line, after checking all of its arguments. */
function parse([verb, ...args]: readonly string[], filters: AttributeTypes): TokenAction {
  if (verb === 'create') {
    const { values, positionals } = parseOptions(args, CREATE_OPTIONS);
    refuseArguments(positionals);
    return create(values, filters);
  }
  if (verb === 'list') {
    refuseArguments(args);
    return async (tokens) => tokenTable(await tokens.list(), new Date());
  }
  if (verb === 'rotate') {
    const { values, positionals } = parseOptions(args, { overlap: { type: 'string' } });
    return rotate(parseId(verb, positionals), values.overlap);
  }
  if (verb === 'revoke') return revoke(parseId(verb, args));
  throw new UsageError('say create, list, rotate ID or revoke ID');
}

function parseId(verb: string, [id = '', ...more]: readonly string[]): string {
  if (!UUID.test(id) || more.length > 0)
    throw new UsageError(`${verb} takes the id of a token, as list shows it`);
  return id;
}

interface TokenOptions {
  name?: string;
  scope?: string[];
  project?: string[];
  attribute?: string[];
  expires?: string;
}

function create(
  { name, scope, project, attribute, expires }: TokenOptions,
  filters: AttributeTypes,
): TokenAction {
  if (!name?.trim()) throw new UsageError('create needs --name NAME, the name of its holder');
  if (!/^[\P{Cc}]{1,200}$/u.test(name))
    throw new UsageError('--name takes at most 200 characters, without control characters');
  const unknown = scope?.find((name) => !scopes.includes(name));
  if (unknown !== undefined) throw new UsageError(`there is no scope ${JSON.stringify(unknown)}`);
  const requested = scope ?? defaultScopes;
  const projects = project && parseProjects(project);
  const attributes = attribute && parseAttributes(attribute, filters);
  const expiresAt =
    expires === undefined ? undefined : new Date(Date.now() + parseDuration('expires', expires));
  return async (tokens) => {
    const { id, token } = await tokens.create({
      name,
      scopes: scopes.filter((known) => requested.includes(known)),
      projects,
      attributes,
      expiresAt,
    });
    return `Token ${id} for ${name}, shown only once:\n${token}`;
  };
}

function parseProjects(values: readonly string[]): readonly string[] {
  if (!values.every((project) => UUID.test(project)))
    throw new UsageError(
      '--project takes the UUID of a project, such as 3f2b8c1e-9d4a-4c57-8f16-0a7e5b2d9c43',
    );
  const projects = new Set(values.map((project) => project.toLowerCase()));
  if (projects.size > MAX_PROJECTS)
    throw new UsageError(
      `a token can be bound to at most ${MAX_PROJECTS} projects; these are ${projects.size}`,
    );
  return [...projects];
}

function parseAttributes(texts: readonly string[], filters: AttributeTypes): NewAccessToken['attributes'] {
  const values: Record<string, string | number | boolean> = {};
  for (const text of texts) {
    const [, name, value] = /^([^=]+)=(.+)$/su.exec(text) ?? [];
    if (name === undefined) throw new UsageError('--attribute takes a name and a value, such as userId=ada');
    const type = filters.get(name);
    if (type === undefined)
      throw new UsageError(
        `--attribute takes attributes of ATTRIBUTES_SCHEMA of type string, number, integer or boolean (${[...filters.keys()].join(', ') || 'there is none'}), and ${JSON.stringify(name)} is not one`,
      );
    if (Object.hasOwn(values, name)) throw new UsageError(`--attribute takes ${name} only once`);
    try {
      values[name] = parseAttribute(name, type, value!);
    } catch (error) {
      throw new UsageError(`--attribute: ${(error as Error).message}`);
    }
  }
  return values;
}

/** Returns milliseconds: at most a million days, so that a Date can represent their end. */
function parseDuration(option: 'expires' | 'overlap', text: string): number {
  const [, amount, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? [];
  if (unit === undefined)
    throw new UsageError(
      `--${option} takes a number and d, h or m, such as ${option === 'expires' ? '90d' : '1h'}`,
    );
  return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

function rotate(id: string, overlap: string | undefined): TokenAction {
  const overlapMs = overlap === undefined ? 0 : parseDuration('overlap', overlap);
  return async (tokens, { path, keepOwner }) => {
    const { token, isInFile, ...rotation } = await rotateToken(tokens, { file: path, id, overlapMs });
    if (rotation.state === 'unknown') throw unknownToken(id);
    if (rotation.state !== 'rotated')
      throw new Error(`the token ${id} is ${rotation.state}, so it cannot be rotated: create a new one`);
    if (isInFile) await keepOwner(path);
    const earlier =
      overlapMs > 0
        ? `the earlier one works until ${formatMinute(rotation.previousUntil)}`
        : 'the service rejects the earlier one within 5 seconds';
    return [
      `Token ${id} for ${rotation.name} has a new secret, shown only once; ${earlier}.`,
      ...(isInFile ? [`It is also in ${path}.`] : []),
      token,
    ].join('\n');
  };
}

function unknownToken(id: string): Error {
  return new Error(`there is no token ${id}: list shows the existing ones`);
}

function revoke(id: string): TokenAction {
  return async (tokens) => {
    if (!(await tokens.revoke(id))) throw unknownToken(id);
    return `revoked ${id}; the service rejects it within 5 seconds`;
  };
}

function withTokens(context: CommandContext, action: TokenAction): Promise<string> {
  return withDatabase(context, async (database, config) => {
    if (!config.acceptsAccessTokens)
      context.printError('note: AUTH_ACCESS_TOKENS=off, so these tokens are not accepted');
    // The schema of an external database is changed only by the service and `npm run migrate`.
    if (config.databaseUrl === undefined) await migrate({ url: database.url, migrations });
    const dataSource = await openDataSource({
      ...plainOptions(database.url),
      entities: accessTokenEntities,
    });
    try {
      return await action(new AccessTokenService(new Database(dataSource)), {
        path: firstTokenFile(config.dataDir),
        keepOwner: (path) => database.keepOwner(path),
      });
    } catch (error) {
      const message = MESSAGES[codeOf(error)];
      throw message ? new Error(message, { cause: error }) : error;
    } finally {
      await dataSource.destroy();
    }
  });
}

await runAsProgram(import.meta.filename, tokenCommand);
