import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../libs/auth/src/index.js';
import { Database } from '../database/index.js';
import { AccessToken, digestOf, newToken } from './access-token.js';

export interface NewAccessToken {
  readonly name: string;
  readonly scopes: readonly string[];
  /** The UUIDs of the projects to which the token is restricted; undefined means all. */
  readonly projects?: readonly string[] | undefined;
  /** The values of attributes to which the token is bound; undefined means that it is not. */
  readonly attributes?: Caller['attributes'];
  /** Undefined means that the token never expires. */
  readonly expiresAt?: Date | undefined;
}

/** The outcome of a rotation. */
export type Rotation =
  | { readonly state: 'unknown' | 'revoked' | 'expired' }
  | {
      readonly state: 'rotated';
      readonly name: string;
      /** The time until which the earlier secret works. */
      readonly previousUntil: Date;
    };

const TIMES = {
  createdAt: 'created_at',
  expiresAt: 'expires_at',
  revokedAt: 'revoked_at',
  lastUsedAt: 'last_used_at',
  previousUntil: 'previous_until',
};
/** Selects the times as JSON, whose format does not depend on DateStyle. */
const TIME_COLUMNS = Object.entries(TIMES)
  .map(([name, column]) => `to_json(${column}) as "${name}"`)
  .join();

/** Creates, lists, rotates and revokes access tokens. */
@Injectable()
export class AccessTokenService {
  constructor(private readonly database: Database) {}

  private get table(): string {
    return this.database.table(AccessToken);
  }

  /** Creates a token and returns its text, which cannot be read again. */
  async create(options: NewAccessToken): Promise<{ id: string; token: string }> {
    const token = newToken();
    return { id: await this.store(token, options), token };
  }

  /** Stores an existing token. Returns its id. */
  async store(token: string, options: NewAccessToken): Promise<string> {
    const { name, scopes, projects = null, attributes, expiresAt } = options;
    const id = randomUUID();
    const bound = attributes && JSON.stringify({ attributes, projects });
    await this.database.change(
      `insert into ${this.table} (id, name, digest, scopes, projects, bound, created_at, expires_at)
       values ($1, $2, $3, $4, $5, $6, now(), $7)`,
      [id, name, digestOf(token), scopes, bound ? [] : projects, bound ?? null, expiresAt ?? null],
    );
    return id;
  }

  /** Returns all tokens, oldest first, including revoked and expired ones. */
  async list(): Promise<AccessToken[]> {
    const tokens = await this.database.query<Record<keyof typeof TIMES, string | null> & AccessToken>(
      `select id, name, digest, previous_digest as "previousDigest", scopes, projects, bound, ${TIME_COLUMNS}
         from ${this.table} order by created_at, id`,
    );
    for (const token of tokens)
      for (const name of Object.keys(TIMES) as (keyof typeof TIMES)[])
        Object.assign(token, { [name]: token[name] && new Date(token[name]) });
    return tokens;
  }

  /** Returns whether there is a valid token. */
  async isAnyValid(): Promise<boolean> {
    const [row] = await this.database.query<{ exists: boolean }>(
      `select exists (select from ${this.table}
         where revoked_at is null and (expires_at is null or expires_at > now())) as exists`,
    );
    return row!.exists;
  }

  /**
   * Replaces the text of a valid token. The earlier one works until the overlap ends, and one before it no longer.
   * The id stays, so idempotency keys stay valid.
   */
  async rotate(id: string, token: string, overlapMs: number): Promise<Rotation> {
    const [row] = await this.database.change<{
      name: string;
      state: 'rotated' | 'revoked' | 'expired';
      until: string;
    }>(
      `with rotated as (
         update ${this.table} set digest = $2, previous_digest = digest,
                previous_until = least(now() + $3::float8 * interval '1 millisecond', expires_at)
          where id = $1 and revoked_at is null and coalesce(expires_at > now(), true)
         returning id, previous_until as until
       )
       select name, to_json(rotated.until) as until,
              case when rotated.id is not null then 'rotated'
                   when revoked_at is null and expires_at <= now() then 'expired' else 'revoked' end as state
         from ${this.table} token left join rotated using (id) where id = $1`,
      [id, digestOf(token), overlapMs],
    );
    if (row?.state !== 'rotated') return { state: row?.state ?? 'unknown' };
    return { state: row.state, name: row.name, previousUntil: new Date(row.until) };
  }

  /** Revokes a token on all instances within 5 seconds. Returns false if the id is unknown. */
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
