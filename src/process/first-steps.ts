import { join } from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { AccessTokenService, ensureFirstToken } from '../access-token/index.js';
import { firstScopes } from '../app.module.js';
import type { Config } from './config.js';
import type { OpenDatabase } from '../database/setup/index.js';

export interface FirstSteps {
  /** Absolute path of the file that holds a token; undefined where nobody has one yet. */
  readonly tokenFile: string | undefined;
  /** The address that the service listens on; undefined for all interfaces. */
  readonly host: string | undefined;
  readonly port: number;
  readonly today: Date;
  /** Whether there is a page to try the service on. */
  readonly apiDocs: boolean;
}

/** The file that holds a valid first token, which only the embedded database gets. */
export async function firstTokenFile(
  app: INestApplicationContext,
  { databaseUrl, dataDir, takesAccessTokens }: Config,
  database: OpenDatabase,
): Promise<string | undefined> {
  if (databaseUrl !== undefined || !takesAccessTokens) return undefined;
  const file = join(dataDir, 'access-token');
  if (!(await ensureFirstToken(app.get(AccessTokenService), file, firstScopes))) return undefined;
  await database.keepOwner(file);
  return file;
}

/** Whether nobody can call the service until a token is made. */
export async function lacksToken(
  app: INestApplicationContext,
  { takesAccessTokens, declaredTokens, jwt }: Config,
): Promise<boolean> {
  if (!takesAccessTokens || declaredTokens.length > 0 || jwt) return false;
  // A database that is away for a moment is no reason to end.
  return !(await app
    .get(AccessTokenService)
    .isAnyValid()
    .catch(() => true));
}

/** It has the name of a variable that the next lines read, so that all of them can be pasted. */
const MAKE_TOKEN = [
  'There is no token yet. In the folder of the service, with its settings (such as DATABASE_URL), this makes one:',
  '',
  'TOKEN=$(npm run --silent token -- create --name me | tail -n 1)',
  '',
];

/**
 * Two shell commands, which record a log and list it, and a page for a browser. They name the file of the token, or a
 * variable, instead of the token itself: what is printed ends up in logs.
 */
export function firstSteps({ tokenFile, host, port, today, apiDocs }: FirstSteps): string {
  const base = `http://${reachable(host)}:${port}`;
  const url = `${base}/api/v1/time-logs`;
  // The answer has no line feed at its end, and the prompt would follow it on the same line.
  const curl = "curl -w '\\n'";
  const token = tokenFile === undefined ? '$TOKEN' : `$(cat ${shellQuoted(tokenFile)})`;
  const authorization = `-H "Authorization: Bearer ${token}"`;
  const body = JSON.stringify({
    projectId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    duration: 1.5,
    description: 'My first log',
    date: today.toISOString().slice(0, 10),
  });
  return [
    '',
    ...(tokenFile === undefined ? MAKE_TOKEN : []),
    'Record a log:',
    '',
    `${curl} ${authorization} -H 'Content-Type: application/json' -d ${shellQuoted(body)} ${shellQuoted(url)}`,
    '',
    'List the logs:',
    '',
    `${curl} ${authorization} ${shellQuoted(url)}`,
    '',
    ...(apiDocs ? [`Try it: ${base}/docs`, ''] : []),
  ].join('\n');
}

function reachable(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
