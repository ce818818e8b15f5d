import type { AccessToken } from './access-token.js';

/** The tokens as a table for people. Times are in UTC. */
export function tokenTable(tokens: readonly AccessToken[], now: Date): string {
  const rows = tokens.map((token) => [
    token.id,
    token.name,
    token.scopes.join(' '),
    minute(token.createdAt),
    token.expiresAt ? minute(token.expiresAt) : 'never',
    token.lastUsedAt ? minute(token.lastUsedAt) : 'never',
    stateOf(token, now),
  ]);
  const lines = [['ID', 'NAME', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED', 'STATE'], ...rows];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const [heads, ...texts] = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  return [heads, ...texts.flatMap((text, index) => [text, ...boundOf(tokens[index]!)])].join('\n');
}

/** A line of its own, below that of a bound token: a column of 100 projects would make every line as wide. */
function boundOf({ projects }: AccessToken): string[] {
  return projects === null ? [] : [`  bound to ${projects.join(' ') || 'no project'}`];
}

function minute(instant: Date): string {
  return `${instant.toISOString().slice(0, 16).replace('T', ' ')}Z`;
}

function stateOf({ revokedAt, expiresAt }: AccessToken, now: Date): string {
  if (revokedAt) return 'revoked';
  return expiresAt && expiresAt <= now ? 'expired' : 'active';
}
