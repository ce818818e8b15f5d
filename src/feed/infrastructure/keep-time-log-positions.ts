import type { QueryRunner } from 'typeorm';
import { dataSourceOf, qualified } from '../../database/index.js';

/** More positions than any server gives out in a second. */
const RATE = 2 ** 22;

/** A position that none has reached, and when that was so, in seconds since 1970. */
type UnreachedPosition = Readonly<Record<'unreachedPosition' | 'unreachedAt', string>>;

/** What a backup must hold beside the rows: the newest of them may have been deleted. */
export async function unreachedTimeLogPosition(runner: QueryRunner): Promise<UnreachedPosition> {
  const [row] = (await runner.query(
    `select unreached::text as "unreachedPosition", extract(epoch from clock_timestamp())::text as "unreachedAt"
       from ${qualified(dataSourceOf(runner), 'time_log_position_bounds')}()`,
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
