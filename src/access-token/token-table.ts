import type { AccessToken } from './access-token.js';

/** Returns the tokens as a text table. Times are in UTC. */
export function tokenTable(tokens: readonly AccessToken[], now: Date): string {
  const rows = tokens.map((token) => [
    token.id,
    token.name,
    token.scopes.join(' '),
    formatMinute(token.createdAt),
    token.expiresAt ? formatMinute(token.expiresAt) : 'never',
    token.lastUsedAt ? formatMinute(token.lastUsedAt) : 'never',
    stateOf(token, now),
  ]);
  const lines = [['ID', 'NAME', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED', 'STATE'], ...rows];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const [header, ...rowTexts] = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  return [
    header,
    ...rowTexts.flatMap((text, index) => [
      text,
      ...boundsLine(tokens[index]!),
      ...overlapLine(tokens[index]!, now),
    ]),
  ].join('\n');
}

/** Returns a separate line for attributes and projects: up to 100 would not fit into a column. */
function boundsLine({ projects, bound }: AccessToken): string[] {
  const values = Object.entries(bound?.attributes ?? {}).map(([name, value]) => `${name}=${textOf(value)}`);
  const ids = bound ? bound.projects : projects;
  if (ids === null && values.length === 0) return [];
  return [`  bound to ${[...values, ...(ids === null ? [] : [ids.join(' ') || 'no project'])].join(' ')}`];
}

function textOf(value: string | number | boolean): string {
  return typeof value === 'string' && /[\s\p{Cc}"]/u.test(value) ? JSON.stringify(value) : String(value);
}

function overlapLine(token: AccessToken, now: Date): string[] {
  const { previousUntil } = token;
  if (previousUntil === null || previousUntil <= now || stateOf(token, now) !== 'active') return [];
  return [`  the earlier secret works until ${formatMinute(previousUntil)}`];
}

/** Returns the minute of an instant in UTC. */
export function formatMinute(instant: Date): string {
  return `${instant.toISOString().slice(0, 16).replace('T', ' ')}Z`;
}

function stateOf({ revokedAt, expiresAt }: AccessToken, now: Date): string {
  if (revokedAt) return 'revoked';
  return expiresAt && expiresAt <= now ? 'expired' : 'active';
}
