import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { DomainError, reasonOf } from '../../libs/errors/src/index.js';
import { readTextFile } from '../../libs/strict-url/src/index.js';
import type { AccessTokenService, Rotation } from './access-token.service.js';
import { type AccessToken, digestOf, newToken } from './access-token.js';

const NAME = 'first';
const logger = new Logger('FirstToken');

/** Returns the path of the file that holds the first token. */
export function firstTokenFile(dataDir: string): string {
  return join(dataDir, 'access-token');
}

/**
 * Creates the first token of a new database, in a file that only its owner can read. Returns
 * undefined if the file has no valid token. A first token that was revoked or deleted is not created
 * again. The file is written before the row: after a crash in between, the next start creates
 * another token.
 */
export async function ensureFirstToken(
  tokens: Pick<AccessTokenService, 'list' | 'store'>,
  file: string,
  scopes: readonly string[],
): Promise<'created' | 'kept' | undefined> {
  const known = await tokens.list();
  const kept = readKept(file);
  if (kept !== undefined && known.some((token) => isValidFor(token, kept.trim()))) return 'kept';
  const first = known.filter(({ name }) => name === NAME);
  // Empty: it cannot be read, which is logged already.
  if (kept !== '' && first.some(isValid))
    logger.warn(
      `the first token in ${file} is ${kept === undefined ? 'missing (backups do not contain it)' : 'not valid in this database'}: copy the right file there, or make a token with npm run --silent token -- create --name NAME`,
    );
  if (first.length > 0) return undefined;
  const token = newToken();
  await rename(await writeDraft(file, token), file);
  await tokens.store(token, { name: NAME, scopes });
  return 'created';
}

/**
 * Rotates a token, also in the file if that holds it. The new text is on disk before the row changes, so that
 * a full disk changes nothing. A rotation that was interrupted between the two can be repeated; the Error says so.
 */
export async function rotateToken(
  tokens: Pick<AccessTokenService, 'list' | 'rotate'>,
  { file, id, overlapMs }: { readonly file: string; readonly id: string; readonly overlapMs: number },
): Promise<Rotation & { readonly token: string; readonly isInFile: boolean }> {
  const token = newToken();
  const kept = digestOf(readKept(file)?.trim() ?? '');
  const isInFile = (await tokens.list()).some(
    (known) =>
      known.id === id.toLowerCase() && (known.digest.equals(kept) || known.previousDigest?.equals(kept)),
  );
  const draft = isInFile ? await writeDraft(file, token) : undefined;
  let isRotated = false;
  try {
    const rotation = await tokens.rotate(id, token, overlapMs);
    isRotated = rotation.state === 'rotated';
    if (draft !== undefined && isRotated) await rename(draft, file);
    return { ...rotation, token, isInFile };
  } catch (error) {
    // Other errors are of statements that the server has rejected.
    if (!isRotated && !(error instanceof DomainError)) throw error;
    const reason = reasonOf(error instanceof DomainError ? (error.cause ?? error) : error);
    throw new Error(
      `the token may have a new secret that nobody knows (${reason}): repeat the rotation of ${id}`,
      { cause: error },
    );
  } finally {
    if (draft !== undefined) await rm(draft, { force: true });
  }
}

function isValidFor(known: AccessToken, token: string): boolean {
  return known.digest.equals(digestOf(token)) && isValid(known);
}

function isValid({ revokedAt, expiresAt }: AccessToken): boolean {
  return !revokedAt && !(expiresAt && expiresAt <= new Date());
}

/** Returns the text of the file: undefined if it does not exist, empty if it cannot be read. */
function readKept(file: string): string | undefined {
  try {
    return readTextFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const remedy = code === 'EACCES' ? `: sudo chown ${process.getuid?.()} '${file}' makes it yours` : '';
    logger.warn(`the first token in ${file} cannot be read (${code})${remedy}`);
    return '';
  }
}

/** Writes a token to a file that only its owner can read and that may replace another one. Returns its path. */
async function writeDraft(file: string, token: string): Promise<string> {
  const draft = `${file}.new`;
  // Removes the file of an earlier crash, or a link through which root would write.
  await rm(draft, { force: true });
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${token}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return draft;
}
