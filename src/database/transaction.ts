import type { QueryRunner } from 'typeorm';

/**
 * Says its isolation itself, for the default may be another by the role, the database or the server: a create that meets
 * another one would then fail, and a pooler would not take, or keep, a default that the connection brings along.
 */
const BEGIN = 'begin isolation level read committed';

/** Runs one statement in a transaction of its own: in one round trip where the driver sends without waiting (`pipeline`), else in three. */
export async function inTransaction<Row>(
  runner: QueryRunner,
  sql: string,
  parameters: readonly unknown[],
): Promise<Row[]> {
  const run = () => runner.query(sql, parameters as unknown[]) as Promise<Row[]>;
  const { pipeline } = (await runner.connect()) as { pipeline?: boolean };
  return pipeline ? atOnce(runner, run) : stepByStep(runner, run);
}

/** All three are sent in this order; where the statement fails, the server makes a rollback of the commit. */
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
    // A connection that is lost has rolled back already.
    await runner.query('rollback').catch(() => undefined);
    throw error;
  }
  await runner.query('commit');
  return rows;
}
