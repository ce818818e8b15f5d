import { parseArgs } from 'node:util';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MAX_PROJECTS } from '../../libs/auth/src/index.js';
import { accessTokens, AccessTokenService, tokenTable } from '../access-token/index.js';
import { defaultScopes, migrations, scopes } from '../app.module.js';
import { codeOf, migrate, openDataSource, plainOptions } from '../database/setup/index.js';
import { UsageError } from './command-line.js';
import { type Call, type Command, runAsProgram, withDatabase } from './run-command.js';

const SCOPES = scopes.map(({ name }) => name);
/** What to do, by SQLSTATE: there are no tables, or they lack a column, or the role may not use them. */
const REMEDIES: Record<string, string> = {
  '42P01': 'the database has no tables yet: npm run migrate makes them',
  '42703': 'the tables of the database are of an older version: npm run migrate brings them up to date',
  '42501':
    'the role of DATABASE_URL may not do this: grant it what docker/DATABASE.md lists under Rights, or name the owner',
};
const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 };
/** PostgreSQL and JavaScript both know this instant. */
const LATEST = Date.UTC(9999, 11, 31);
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export const tokenCommand: Command = {
  usage: `Usage:
  npm run --silent token -- create --name NAME [--scope SCOPE]... [--project UUID]... [--expires 90d]
  npm run --silent token -- list
  npm run --silent token -- revoke ID

SCOPE is one of ${SCOPES.join(', ')}; without --scope a token gets ${defaultScopes.join(' and ')}.
--project binds the token to a project, or to several (at most ${MAX_PROJECTS}); without it a token has all.
--expires takes a number and d, h or m (days, hours, minutes); without it a token does not expire.
create prints the token as its last line: it is shown only this once.`,
  run: (call) => withTokens(call, parse(call.args)),
};

type Act = (tokens: AccessTokenService) => Promise<string>;

/** The action that the command line asks for. It is checked before the database is touched. */
function parse(args: readonly string[]): Act {
  const { values, positionals } = parseOptions(args);
  const [verb, id, ...more] = positionals;
  if (verb !== 'create' && (values.name ?? values.scope ?? values.project ?? values.expires) !== undefined) {
    throw new UsageError('--name, --scope, --project and --expires go with create');
  }
  if (verb === 'create' && id === undefined) return create(values);
  if (verb === 'list' && id === undefined)
    return async (tokens) => tokenTable(await tokens.list(), new Date());
  if (verb === 'revoke' && id !== undefined && more.length === 0) return revoke(id);
  const isKnown = verb === undefined || ['create', 'list', 'revoke'].includes(verb);
  throw new UsageError(`${isKnown ? '' : `there is no command ${verb}: `}say create, list or revoke ID`);
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        name: { type: 'string' },
        scope: { type: 'string', multiple: true },
        project: { type: 'string', multiple: true },
        expires: { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

interface Wanted {
  name?: string;
  scope?: string[];
  project?: string[];
  expires?: string;
}

function create({ name, scope, project, expires }: Wanted): Act {
  if (!name?.trim()) throw new UsageError('create needs --name NAME, which says who the token is for');
  if (!/^[\P{Cc}]{1,200}$/u.test(name))
    throw new UsageError('--name takes at most 200 characters, without control characters');
  const unknown = scope?.find((given) => !SCOPES.includes(given));
  if (unknown !== undefined) throw new UsageError(`there is no scope ${JSON.stringify(unknown)}`);
  const wanted = scope ?? defaultScopes;
  const projects = project && projectsOf(project);
  const expiresAt = expires === undefined ? undefined : instantAfter(expires);
  return async (tokens) => {
    const { id, token } = await tokens.create({
      name,
      scopes: SCOPES.filter((known) => wanted.includes(known)),
      projects,
      expiresAt,
    });
    return `Token ${id} for ${name}, shown only this once:\n${token}`;
  };
}

function projectsOf(given: readonly string[]): readonly string[] {
  if (!given.every((project) => UUID.test(project)))
    throw new UsageError(
      '--project takes the UUID of a project, such as 3f2b8c1e-9d4a-4c57-8f16-0a7e5b2d9c43',
    );
  const projects = new Set(given.map((project) => project.toLowerCase()));
  if (projects.size > MAX_PROJECTS)
    throw new UsageError(
      `a token can be bound to at most ${MAX_PROJECTS} projects; these are ${projects.size}`,
    );
  return [...projects];
}

function instantAfter(lifetime: string): Date {
  const [, amount, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(lifetime) ?? [];
  const instant = Date.now() + Number(amount) * UNITS[unit as keyof typeof UNITS];
  if (Number.isNaN(instant) || instant > LATEST)
    throw new UsageError('--expires takes a number and d, h or m, such as 90d');
  return new Date(instant);
}

function revoke(id: string): Act {
  if (!UUID.test(id)) throw new UsageError('revoke takes the id of a token, as list shows it');
  return async (tokens) => {
    if (!(await tokens.revoke(id))) throw new Error(`there is no token ${id}; list shows those there are`);
    return `revoked ${id}; the service refuses it within 5 seconds`;
  };
}

function withTokens(call: Call, act: Act): Promise<string> {
  return withDatabase(call, async (database, config) => {
    if (!config.takesAccessTokens) call.say('note: AUTH_ACCESS_TOKENS=off, so these tokens are not taken');
    // Only the service and `npm run migrate` change the schema of an external database.
    if (config.databaseUrl === undefined) await migrate({ url: database.url, migrations });
    const app = await NestFactory.createApplicationContext(
      {
        module: class TokenCommandModule {},
        imports: [
          TypeOrmModule.forRootAsync({
            useFactory: () => ({
              ...plainOptions(database.url),
              entities: accessTokens.entities,
              toRetry: () => false,
            }),
            dataSourceFactory: (options) => openDataSource(options!),
          }),
          accessTokens.bind({ ...config, declaredTokens: [], defaultScopes }),
        ],
      },
      { logger: false, abortOnError: false },
    );
    try {
      return await act(app.get(AccessTokenService));
    } catch (error) {
      const remedy = REMEDIES[codeOf(error)];
      throw remedy ? new Error(remedy, { cause: error }) : error;
    } finally {
      await app.close();
    }
  });
}

await runAsProgram(import.meta.filename, tokenCommand);
