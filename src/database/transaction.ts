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

/** Runs one statement in its own transaction. It takes one round trip if the driver has `pipeline`, else three. */
export async function inTransaction<Row>(
  runner: QueryRunner,
  sql: string,
  parameters: readonly unknown[],
): Promise<Row[]> {
  const run = () => runner.query(sql, parameters as unknown[]) as Promise<Row[]>;
  const { pipeline } = (await runner.connect()) as { pipeline?: boolean };
  return pipeline ? atOnce(runner, run) : stepByStep(runner, run);
}

/** Sends all three at once. If the statement fails, the server turns the commit into a rollback. */
async function atOnce<Row>(runner: QueryRunner, run: () => Promise<Row[]>): Promise<Row[]> {
  const steps = await Promise.allSettled([runner.query(BEGIN), run(), runner.query('commit')]);
  const failed = [steps[1], steps[0], steps[2]].find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
  return (steps[1] as PromiseFulfilledResult<Row[]>).value;
}

async function stepByStep<Row>(runner: QueryRunner, run: () => Promise<Row[]>): Promise<Row[]> {
  await runner.query(BEGIN);
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
