import { Injectable, Logger } from '@nestjs/common';
import { reasonOf } from '../../libs/errors/src/index.js';
import type { Caller } from '../../libs/auth/src/index.js';
import { Database } from '../database/index.js';
import { AccessToken } from './access-token.js';

export interface FoundToken {
  readonly caller: Caller;
  /** Milliseconds until the token expires, by the clock of the database. Undefined: it never does. */
  readonly remaining: number | undefined;
}

interface Row {
  readonly id: string;
  readonly digest: Buffer;
  readonly scopes: string[];
  readonly projects: string[] | null;
  readonly remaining: string | null;
  readonly isUseUnnoted: boolean;
}

/** Finds valid tokens in the database, and notes there that they were used. */
@Injectable()
export class AccessTokenLookup {
  private readonly logger = new Logger(AccessTokenLookup.name);

  /** Only one note at a time: when commits hang, many notes would take the whole pool. */
  private isNoting = false;

  constructor(private readonly database: Database) {}

  /**
   * Finds the valid tokens (neither expired nor revoked) by their SHA-256. Its keys are the digests as latin1 text.
   */
  async find(digests: readonly Buffer[]): Promise<ReadonlyMap<string, FoundToken>> {
    // A use that is noted for later than now: the clock of the database has gone back.
    const rows = await this.database.query<Row>(
      `select id, digest, scopes, projects, (extract(epoch from expires_at - now()) * 1000)::bigint as remaining,
              coalesce(last_used_at not between now() - interval '1 minute' and clock_timestamp(), true)
                and current_setting('transaction_read_only') = 'off' as "isUseUnnoted"
         from ${this.database.table(AccessToken)}
        where digest = any($1) and revoked_at is null and coalesce(expires_at > now(), true)`,
      [digests],
    );
    const used = rows.filter(({ isUseUnnoted }) => isUseUnnoted).map(({ id }) => id);
    if (used.length > 0 && !this.isNoting) void this.noteUse(used);
    return new Map(
      rows.map(({ id, digest, scopes, projects, remaining }) => [
        digest.toString('latin1'),
        {
          caller: { id, scopes, projects: projects ?? undefined },
          remaining: remaining === null ? undefined : Number(remaining),
        },
      ]),
    );
  }

  /** A failed note refuses no request: the next lookup tries again. A standby takes no notes. */
  private async noteUse(ids: readonly string[]): Promise<void> {
    this.isNoting = true;
    const table = this.database.table(AccessToken);
    try {
      await this.database.change(
        `update ${table} set last_used_at = now()
          where id in (select id from ${table} where id = any($1) order by id for update skip locked)`,
        [ids],
      );
    } catch (error) {
      this.logger.debug(`last use not noted: ${reasonOf(error)}`);
    } finally {
      this.isNoting = false;
    }
  }
}
