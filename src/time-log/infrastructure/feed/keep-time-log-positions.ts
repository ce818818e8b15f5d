import type { QueryRunner } from 'typeorm';
import { dataSourceOf, qualified } from '../../../database/index.js';
import { feedNamesIn } from './feed-names.js';
import { newestPosition } from './move-time-log-positions.v1.js';
import { nextPosition, notedPosition, RATE, unreached } from './position-bounds.v1.js';

/** A position that none has reached, and when that was so, in seconds since 1970. */
type UnreachedPosition = Readonly<Record<'unreachedPosition' | 'unreachedAt', string>>;

/** What a backup must hold beside the rows: the newest of them may have been deleted. */
export async function unreachedTimeLogPosition(runner: QueryRunner): Promise<UnreachedPosition> {
  const names = await feedNamesIn(runner);
  const [row] = (await runner.query(
    `select ${unreached('newest', 'next', 'noted')}::text as "unreachedPosition",
            extract(epoch from clock_timestamp())::text as "unreachedAt"
       from (select ${newestPosition(names)} as newest, ${nextPosition(names)} as next,
                    ${notedPosition(names)} as noted) bounds`,
  )) as [UnreachedPosition];
  return row;
}

/**
 * To be done where logs have come from another server, such as from a backup, in the same READ COMMITTED transaction or
 * after it, by the owner of the table: then new logs come after all that were ever told there, as far as the rows and
 * the backup say.
 */
export async function keepTimeLogPositions(
  runner: QueryRunner,
  { unreachedPosition, unreachedAt }: Partial<UnreachedPosition> = {},
): Promise<void> {
  // The other server may have gone on since.
  const now = `$1::numeric + ${RATE} * greatest(0, extract(epoch from clock_timestamp()) - $2::numeric)`;
  await runner.query(
    `select ${qualified(dataSourceOf(runner), 'move_time_log_positions')}(
       least(${2n ** 63n - 1n}, coalesce(ceil(${now}), 0))::bigint)`,
    [unreachedPosition, unreachedAt],
  );
}
