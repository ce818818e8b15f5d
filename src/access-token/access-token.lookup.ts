import { Injectable, Logger } from '@nestjs/common';
import { inBackground } from '../../libs/batching/src/index.js';
import { reasonOf } from '../../libs/errors/src/index.js';
import type { Verification } from '../../libs/auth/src/index.js';
import { Database } from '../database/index.js';
import { AccessToken, type TokenBounds } from './access-token.js';

interface Row {
  readonly id: string;
  readonly scopes: string[];
  readonly projects: string[] | null;
  readonly bound: TokenBounds | null;
  readonly remainingMs: string | null;
  readonly isUseOutdated: boolean;
}

/** Finds valid tokens in the database, and records their last use there. */
@Injectable()
export class AccessTokenLookup {
  private readonly logger = new Logger(AccessTokenLookup.name);

  /** Only one update at a time: if commits hang, many updates would take the whole pool. */
  private isRecordingUse = false;

  constructor(private readonly database: Database) {}

  /** Returns the verification of the valid token with a digest. A rotated token has two until its overlap ends. */
  async find(digest: Buffer): Promise<Verification | undefined> {
    // A last use in the future is outdated too: the clock of the database has been set back.
    const [row] = await this.database.query<Row>(
      `select id, scopes, projects, bound,
              (extract(epoch from valid_until - now()) * 1000)::bigint as "remainingMs",
              coalesce(last_used_at not between now() - interval '1 minute' and clock_timestamp(), true)
                and current_setting('transaction_read_only') = 'off' as "isUseOutdated"
         from ${this.database.table(AccessToken)}
        cross join lateral (values (case digest when $1 then expires_at else least(expires_at, previous_until) end))
                           as validity (valid_until)
        where (digest = $1 or previous_digest = $1)
          and revoked_at is null and coalesce(valid_until > now(), true)`,
      [digest],
    );
    if (!row) return undefined;
    const { id, scopes, projects, bound, remainingMs, isUseOutdated } = row;
    if (isUseOutdated && !this.isRecordingUse) void inBackground(() => this.recordUse(id));
    return {
      // The guard checks the bounds of every caller.
      caller: {
        id,
        scopes,
        projects: (bound ? bound.projects : projects) ?? undefined,
        attributes: bound?.attributes,
      },
      remainingMs: remainingMs === null ? undefined : Number(remainingMs),
    };
  }

  /** Records the last use. A failure rejects no request: the next lookup tries again. */
  private async recordUse(id: string): Promise<void> {
    this.isRecordingUse = true;
    const table = this.database.table(AccessToken);
    try {
      await this.database.change(
        `update ${table} set last_used_at = now()
          where id = (select id from ${table} where id = $1 for update skip locked)`,
        [id],
      );
    } catch (error) {
      this.logger.debug(`last use not noted: ${reasonOf(error)}`);
    } finally {
      this.isRecordingUse = false;
    }
  }
}
