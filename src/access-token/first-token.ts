import { open, readFile, rename } from 'node:fs/promises';
import { type AccessToken, TIME_LOG_SCOPES } from './access-token.js';
import type { AccessTokenService } from './access-token.service.js';
import { digestOf, newToken } from './token-text.js';

const NAME = 'first';

/**
 * Makes the first token of a database that has never had it, in a file that only its owner can read; false where the
 * file holds no valid token and none is made: a first token that was revoked or removed stays so.
 * The file comes before the row: a crash in between leaves a database without the token, and the next start tries again.
 */
export async function ensureFirstToken(tokens: AccessTokenService, file: string): Promise<boolean> {
  const known = await tokens.list();
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept !== undefined && known.some((token) => isValidFor(token, kept.trim()))) return true;
  if (known.some(({ name }) => name === NAME)) return false;
  const token = newToken();
  await writePrivately(file, `${token}\n`);
  await tokens.store(token, { name: NAME, scopes: TIME_LOG_SCOPES });
  return true;
}

function isValidFor({ digest, revokedAt, expiresAt }: AccessToken, token: string): boolean {
  return digest.equals(digestOf(token)) && !revokedAt && !(expiresAt && expiresAt <= new Date());
}

async function writePrivately(file: string, text: string): Promise<void> {
  const draft = await open(`${file}.new`, 'w', 0o600);
  try {
    await draft.chmod(0o600);
    await draft.writeFile(text);
    await draft.sync();
  } finally {
    await draft.close();
  }
  await rename(`${file}.new`, file);
}
