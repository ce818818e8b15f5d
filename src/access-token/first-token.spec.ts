import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
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

let directory: string;
let file: string;
let tokens: InMemoryTokens;
let warnings: unknown[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'time-logs-first-token-'));
  file = join(directory, 'access-token');
  tokens = new InMemoryTokens();
  warnings = [];
  const ignore = () => undefined;
  const warn = (message: unknown) => void warnings.push(message);
  Logger.overrideLogger({ log: ignore, error: ignore, warn });
});
afterEach(async () => {
  Logger.overrideLogger(false);
  await rm(directory, { recursive: true });
});

describe('ensureFirstToken', () => {
  it('says what to do if its file is missing or another one, as after a restore, unless it was revoked', async () => {
    await ensureFirstToken(tokens, file, SCOPES);
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
});
