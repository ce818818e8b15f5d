import { rm, writeFile } from 'node:fs/promises';
import { Logger } from '@nestjs/common';
import { afterEach, expect, it } from '@jest/globals';
import { useFolder } from '../../test/support/fixtures.js';
import { ensureFirstToken } from './first-token.js';
import { AccessToken, digestOf, newToken } from './access-token.js';

const SCOPES = ['logs:read', 'logs:write'];

/** A store of tokens in memory. */
class InMemoryTokens {
  private readonly stored: AccessToken[] = [];

  async list(): Promise<AccessToken[]> {
    return this.stored;
  }

  async store(token: string, { name, scopes }: Pick<AccessToken, 'name' | 'scopes'>): Promise<string> {
    const unset = { projects: null, expiresAt: null, revokedAt: null, lastUsedAt: null };
    const unrotated = { previousDigest: null, previousUntil: null };
    const id = String(this.stored.length + 1);
    this.stored.push(
      Object.assign(new AccessToken(), { id, digest: digestOf(token), name, scopes, ...unset, ...unrotated }),
    );
    return id;
  }
}

const inFolder = useFolder('time-logs-first-token-');
afterEach(() => void Logger.overrideLogger(false));

it('ensureFirstToken says what to do if its file is missing or another one, unless it was revoked', async () => {
  const [file, tokens] = [inFolder('access-token'), new InMemoryTokens()];
  const warnings: unknown[] = [];
  const ignore = () => undefined;
  Logger.overrideLogger({ log: ignore, error: ignore, warn: (line) => warnings.push(line) });
  await ensureFirstToken(tokens, file, SCOPES);
  // As after a restore.
  await rm(file);
  expect(await ensureFirstToken(tokens, file, SCOPES)).toBeUndefined();
  expect(warnings).toEqual([
    `the first token in ${file} is missing (backups do not contain it): copy the right file there, or make a token with npm run --silent token -- create --name NAME`,
  ]);
  await writeFile(file, `${newToken()}\n`);
  expect(await ensureFirstToken(tokens, file, SCOPES)).toBeUndefined();
  expect(warnings[1]).toMatch(/^the first token in .* is not valid in this database: copy the right file/);
  Object.assign((await tokens.list())[0]!, { revokedAt: new Date() });
  expect(await ensureFirstToken(tokens, file, SCOPES)).toBeUndefined();
  expect(warnings).toHaveLength(2);
});
