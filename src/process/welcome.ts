import type { INestApplicationContext } from '@nestjs/common';
import { AccessTokenService, ensureFirstToken, firstTokenFile } from '../access-token/index.js';
import { firstTokenScopes } from '../app.module.js';
import type { Config } from './config.js';
import type { OpenDatabase } from '../database/setup/index.js';
import type { AttributeRules } from '../time-log/index.js';

export interface WelcomeOptions {
  /** Absolute path of the file that holds a token; undefined if there is no token yet. */
  readonly tokenFile: string | undefined;
  /** The address that the service listens on; undefined means all interfaces. */
  readonly host: string | undefined;
  readonly port: number;
  readonly today: Date;
  /** Whether the service serves `/docs`. */
  readonly apiDocs: boolean;
  /** The attributes of the first log; null if none are known that the schema accepts. */
  readonly attributes?: object | null | undefined;
}

/**
 * Returns the file with the first token, and whether this start created it. Returns undefined if it
 * is not valid. Only an embedded database has one.
 */
export async function firstToken(
  app: INestApplicationContext,
  { databaseUrl, dataDir, acceptsAccessTokens }: Config,
  database: OpenDatabase,
): Promise<{ readonly file: string; readonly isNew: boolean } | undefined> {
  if (databaseUrl !== undefined || !acceptsAccessTokens) return undefined;
  const file = firstTokenFile(dataDir);
  const outcome = await ensureFirstToken(app.get(AccessTokenService), file, firstTokenScopes);
  if (outcome === undefined) return undefined;
  await database.keepOwner(file);
  return { file, isNew: outcome === 'created' };
}

/** Returns whether no client can call the service until a token is created. */
export async function lacksToken(
  app: INestApplicationContext,
  { acceptsAccessTokens, declaredTokens, jwt }: Config,
): Promise<boolean> {
  if (!acceptsAccessTokens || declaredTokens.length > 0 || jwt) return false;
  // A short outage of the database must not end the start.
  return !(await app
    .get(AccessTokenService)
    .isAnyValid()
    .catch(() => true));
}

/** Returns attributes for a first log: none, or a text for each filter; null if the schema accepts neither. */
export async function firstAttributes(schema: AttributeRules): Promise<WelcomeOptions['attributes']> {
  const texts = [...schema.filters].filter(([, type]) => type === 'string').map(([name]) => [name, 'me']);
  for (const attributes of [undefined, Object.fromEntries(texts) as object])
    if ((await schema.validate(attributes)).faults.length === 0) return attributes;
  return null;
}

/** Sets the variable that the next commands read, so that all of them can be pasted. */
const CREATE_TOKEN = [
  'There is no token here. Create one in the folder of the service, with its',
  'settings (such as DATABASE_URL):',
  '',
  'TOKEN=$(npm run --silent token -- create --name me | tail -n 1)',
  '',
];

/**
 * Returns two shell commands in short lines, which record a log and list it, and the address of `/docs`.
 * The commands read the token from a file or a variable, because printed text ends up in logs.
 */
export function welcomeText(options: WelcomeOptions): string {
  const { tokenFile, host, port, today, apiDocs, attributes } = options;
  const base = `http://${clientHost(host)}:${port}`;
  const url = `${base}/api/v1/time-logs`;
  // The response does not end with a newline, so the prompt would follow on the same line.
  const curl = "curl -w '\\n'";
  const token = tokenFile === undefined ? '$TOKEN' : `$(cat ${shellQuote(tokenFile)})`;
  const authorization = `-H "Authorization: Bearer ${token}"`;
  const more = attributes ? `,\n  "attributes":${JSON.stringify(attributes)}` : '';
  const body = `{"projectId":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","duration":1.5,
  "description":"My first log","date":"${today.toISOString().slice(0, 10)}"${more}}`;
  const record = inLines(
    curl,
    authorization,
    "-H 'Content-Type: application/json'",
    `-d ${shellQuote(body)}`,
    shellQuote(url),
  );
  return [
    '',
    ...(tokenFile === undefined ? CREATE_TOKEN : []),
    ...(attributes === null ? [] : ['Record a log:', '', record, '']),
    'List the logs:',
    '',
    inLines(curl, authorization, shellQuote(url)),
    '',
    ...(apiDocs ? [`Try it: ${base}/docs`, ''] : []),
  ].join('\n');
}

/** Returns the host part of a URL for a client on this machine. */
function clientHost(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Returns one shell command, with each part on a line of its own. */
function inLines(...parts: string[]): string {
  return parts.join(' \\\n  ');
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
