import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DomainError } from '../../libs/errors/src/index.js';
import type { Rotation } from './access-token.service.js';
import { ensureFirstToken, rotateToken } from './first-token.js';
import { AccessToken, digestOf, newToken } from './access-token.js';

const SCOPES = ['logs:read', 'logs:write'];

/** A store of tokens in memory. */
class InMemoryTokens {
  private readonly stored: AccessToken[] = [];
  failure: Error | undefined;

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

  async rotate(id: string, token: string): Promise<Rotation> {
    if (this.failure !== undefined) throw this.failure;
    const found = this.stored.find((stored) => stored.id === id);
    if (found === undefined) return { state: 'unknown' };
    if (found.revokedAt !== null) return { state: 'revoked' };
    Object.assign(found, { digest: digestOf(token), previousDigest: found.digest });
    return { state: 'rotated', name: found.name, previousUntil: new Date() };
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

describe('rotateToken', () => {
  beforeEach(() => ensureFirstToken(tokens, file, SCOPES));
  const rotate = (id: string) => rotateToken(tokens, { file, id, overlapMs: 0 });

  it('replaces it also after a rotation that was interrupted before that', async () => {
    await tokens.rotate('1', newToken());
    const { token } = await rotate('1');
    expect(await readFile(file, 'utf8')).toBe(`${token}\n`);
  });

  it.each([
    ['the outcome is unknown', 'connection lost'],
    ['the file cannot be replaced afterwards', 'rename'],
  ])('says to repeat the rotation if %s', async (_what, reason) => {
    if (reason === 'rename') {
      const rotated = tokens.rotate.bind(tokens);
      tokens.rotate = async (id, token) => {
        await rm(file);
        await mkdir(file);
        return rotated(id, token);
      };
    } else tokens.failure = new DomainError('SERVICE_UNAVAILABLE', undefined, { cause: new Error(reason) });
    const advice = rotate('1').catch((error: unknown) => (error as Error).message);
    expect(await advice).toMatch(
      /^the token may have a new secret that nobody knows .*: repeat the rotation of 1$/,
    );
  });
});
