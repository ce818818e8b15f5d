import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../database/index.js';
import { AccessToken } from './access-token.js';
import { digestOf, newToken } from './token-text.js';

export interface NewAccessToken {
  readonly name: string;
  readonly scopes: readonly string[];
  /** The UUIDs of those that it is bound to. Without it the token has all. */
  readonly projects?: readonly string[] | undefined;
  /** Without it the token is valid until it is revoked. */
  readonly expiresAt?: Date | undefined;
}

const TIMES = {
  createdAt: 'created_at',
  expiresAt: 'expires_at',
  revokedAt: 'revoked_at',
  lastUsedAt: 'last_used_at',
};
/** As JSON they have one form, whatever the DateStyle is. */
const TIME_COLUMNS = Object.entries(TIMES)
  .map(([name, column]) => `to_json(${column}) as "${name}"`)
  .join();

/** Makes, lists and revokes access tokens. */
@Injectable()
export class AccessTokenService {
  constructor(private readonly database: Database) {}

  private get table(): string {
    return this.database.table(AccessToken);
  }

  /** Stores a new token and returns its text. Nobody can see the text again later. */
  async create(wanted: NewAccessToken): Promise<{ id: string; token: string }> {
    const token = newToken();
    return { id: await this.store(token, wanted), token };
  }

  /** Stores a token that was made elsewhere. Returns its id. */
  async store(token: string, { name, scopes, projects, expiresAt }: NewAccessToken): Promise<string> {
    const id = randomUUID();
    await this.database.change(
      `insert into ${this.table} (id, name, digest, scopes, projects, created_at, expires_at)
       values ($1, $2, $3, $4, $5, now(), $6)`,
      [id, name, digestOf(token), scopes, projects ?? null, expiresAt ?? null],
    );
    return id;
  }

  /** All tokens, oldest first, revoked and expired ones included. */
  async list(): Promise<AccessToken[]> {
    const tokens = await this.database.query<Record<keyof typeof TIMES, string | null> & AccessToken>(
      `select id, name, digest, scopes, projects, ${TIME_COLUMNS} from ${this.table} order by created_at, id`,
    );
    for (const token of tokens)
      for (const name of Object.keys(TIMES) as (keyof typeof TIMES)[])
        Object.assign(token, { [name]: token[name] && new Date(token[name]) });
    return tokens;
  }

  /** Whether there is a token that is valid now. */
  async isAnyValid(): Promise<boolean> {
    const [found] = await this.database.query<{ isThere: boolean }>(
      `select exists (select from ${this.table}
         where revoked_at is null and (expires_at is null or expires_at > now())) as "isThere"`,
    );
    return found!.isThere;
  }

  /**
   * Revokes a token, on all instances within 5 seconds. Returns false for an unknown id. Revoking again does nothing.
   */
  async revoke(id: string): Promise<boolean> {
    const rows = await this.database.change<{ id: string }>(
      `with revoked as (
         update ${this.table} set revoked_at = coalesce(revoked_at, now()) where id = $1 returning id
       ) select id from revoked`,
      [id],
    );
    return rows.length > 0;
  }
}
