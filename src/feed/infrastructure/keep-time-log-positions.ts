import type { QueryRunner } from 'typeorm';
import { dataSourceOf, qualified } from '../../database/index.js';

/** More positions than any server assigns in a second. */
const MAX_POSITIONS_PER_SECOND = 2 ** 22;

/** A position that has not been reached, and the time of that observation in seconds since 1970. */
type UnreachedPosition = Readonly<Record<'unreachedPosition' | 'unreachedAt', string>>;

/** Returns the metadata that a backup must contain in addition to the rows: the newest may have been deleted. */
export async function unreachedTimeLogPosition(runner: QueryRunner): Promise<UnreachedPosition> {
  const [row] = (await runner.query(
    `select unreached::text as "unreachedPosition", extract(epoch from clock_timestamp())::text as "unreachedAt"
       from ${qualified(dataSourceOf(runner), 'time_log_position_bounds')}()`,
  )) as [UnreachedPosition];
  return row;
}

/**
 * Moves positions forward so that new logs follow all events of the server that the rows came from, as far as
 * the rows and the backup know them. The owner of the table must call it after logs were copied from another
 * server, such as from a backup, in the same READ COMMITTED transaction or later.
 */
export async function keepTimeLogPositions(
  runner: QueryRunner,
  { unreachedPosition, unreachedAt }: Partial<UnreachedPosition> = {},
): Promise<void> {
  // The other server may have assigned positions since.
  const now = `$1::numeric + ${MAX_POSITIONS_PER_SECOND} * greatest(0, extract(epoch from clock_timestamp()) - $2::numeric)`;
  await runner.query(
    `select ${qualified(dataSourceOf(runner), 'move_time_log_positions')}(
       least(${2n ** 63n - 1n}, coalesce(ceil(${now}), 0))::bigint)`,
    [unreachedPosition, unreachedAt],
  );
}
