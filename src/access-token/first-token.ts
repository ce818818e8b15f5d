import { open, rename } from 'node:fs/promises';
import { SCOPES } from './access-token.js';
import type { AccessTokenService } from './access-token.service.js';
import { newToken } from './token-text.js';

/**
 * Makes the first token of a database that has never had one, and writes it to a file that only its owner can read.
 * The file comes first: a crash in between leaves a database without tokens, and the next start tries again.
 */
export async function ensureFirstToken(tokens: AccessTokenService, file: string): Promise<void> {
  if ((await tokens.list()).length > 0) return;
  const token = newToken();
  const draft = await open(`${file}.new`, 'w', 0o600);
  try {
    await draft.chmod(0o600);
    await draft.writeFile(`${token}\n`);
    await draft.sync();
  } finally {
    await draft.close();
  }
  await rename(`${file}.new`, file);
  await tokens.store(token, { name: 'first', scopes: SCOPES });
}
