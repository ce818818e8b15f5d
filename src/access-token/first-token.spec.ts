import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ensureFirstToken } from './first-token.js';
import { type AccessToken, digestOf } from './access-token.js';

const SCOPES = ['logs:read', 'logs:write'];

/** A store of tokens in memory. */
class InMemoryTokens {
  private readonly stored: AccessToken[] = [];

  async list(): Promise<AccessToken[]> {
    return this.stored;
  }

  async store(token: string, { name, scopes }: Pick<AccessToken, 'name' | 'scopes'>): Promise<string> {
    const unset = { projects: null, expiresAt: null, revokedAt: null, lastUsedAt: null };
    this.stored.push({ id: '1', digest: digestOf(token), name, scopes, createdAt: new Date(), ...unset });
    return '1';
  }
}

describe('ensureFirstToken', () => {
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

  it('creates one token, in a file that only its owner can read', async () => {
    expect(await ensureFirstToken(tokens, file, SCOPES)).toBe('created');
    const token = await readFile(file, 'utf8');
    expect(token).toMatch(/^tl_[\w-]{43}\n$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await ensureFirstToken(tokens, file, SCOPES)).toBe('kept');
    expect(await readFile(file, 'utf8')).toBe(token);
    expect((await tokens.list()).map(({ scopes }) => scopes)).toEqual([SCOPES]);
    expect(warnings).toEqual([]);
  });

  it('does not write through an existing link', async () => {
    const other = join(directory, 'other');
    await writeFile(other, 'mine');
    await symlink(other, `${file}.new`);
    expect(await ensureFirstToken(tokens, file, SCOPES)).toBe('created');
    expect(await readFile(other, 'utf8')).toBe('mine');
  });

  it('says what to do if its file is missing, as after a restore, unless it was revoked', async () => {
    await ensureFirstToken(tokens, file, SCOPES);
    await rm(file);
    expect(await ensureFirstToken(tokens, file, SCOPES)).toBeUndefined();
    expect(warnings).toEqual([
      `the first token in ${file} is missing, since backups do not contain it: copy the file there, or make a token with npm run --silent token -- create --name NAME`,
    ]);
    Object.assign((await tokens.list())[0]!, { revokedAt: new Date() });
    expect(await ensureFirstToken(tokens, file, SCOPES)).toBeUndefined();
    expect(warnings).toHaveLength(1);
  });

  it('says that its file cannot be read', async () => {
    await ensureFirstToken(tokens, file, SCOPES);
    await rm(file);
    // Root can read any file, but no directory.
    await mkdir(file);
    expect(await ensureFirstToken(tokens, file, SCOPES)).toBeUndefined();
    expect(warnings).toEqual([`the first token in ${file} cannot be read (EISDIR)`]);
  });
});
