import type { QueryRunner } from 'typeorm';

/**
 * Always names the isolation level: role, database or server may have another default, under which concurrent creates
 * would fail. A default that the connection sets may get lost in a pooler.
 */
const ISOLATED = 'begin isolation level read committed';

/**
 * Makes the commit of this transaction wait for the disk, here and on the synchronous standby: any role may have been
 * told to wait for less, at any time. Leaves `remote_apply`, which waits for more.
 */
export const RAISE_SYNCHRONOUS_COMMIT = `
  select set_config('synchronous_commit', 'on', true)
   where current_setting('synchronous_commit') in ('off', 'local', 'remote_write')`;

/** One message, so it takes no further round trip. */
const BEGIN = `${ISOLATED};${RAISE_SYNCHRONOUS_COMMIT}`;

/** The same, with a limit for each wait for others, where neither role, database nor server has set one. */
const beginWithWait = (milliseconds: number) =>
  `${BEGIN};select set_config('lock_timeout', '${milliseconds}', true) where current_setting('lock_timeout') = '0'`;

/**
 * Runs one statement in its own transaction. It takes one round trip if the driver has `pipeline`, else three. With
 * `rowWait` it waits for a row that others hold no longer than so many milliseconds.
 */
export async function inTransaction<Row>(
  runner: QueryRunner,
  sql: string,
  parameters: readonly unknown[],
  rowWait?: number,
): Promise<Row[]> {
  const begin = rowWait === undefined ? BEGIN : beginWithWait(rowWait);
  const run = () => runner.query(sql, parameters as unknown[]) as Promise<Row[]>;
  const { pipeline } = (await runner.connect()) as { pipeline?: boolean };
  return pipeline ? atOnce(runner, begin, run) : stepByStep(runner, begin, run);
}

/** Sends all three at once. If the statement fails, the server turns the commit into a rollback. */
async function atOnce<Row>(runner: QueryRunner, begin: string, run: () => Promise<Row[]>): Promise<Row[]> {
  const steps = await Promise.allSettled([runner.query(begin), run(), runner.query('commit')]);
  const failed = [steps[1], steps[0], steps[2]].find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
  return (steps[1] as PromiseFulfilledResult<Row[]>).value;
}

async function stepByStep<Row>(
  runner: QueryRunner,
  begin: string,
  run: () => Promise<Row[]>,
): Promise<Row[]> {
  await runner.query(begin);
  let rows: Row[];
  try {
    rows = await run();
  } catch (error) {
    // The server rolls back a lost connection by itself.
    await runner.query('rollback').catch(() => undefined);
    throw error;
  }
  await runner.query('commit');
  return rows;
}
