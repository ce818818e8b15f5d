import { compareCreates, optionsOf, withBench } from './side-by-side.js';

// What column and index of the feed cost a create: the service on two databases in turn, one of which lacks them.
// Usage: npm run bench -- feed [ROUNDS] [SECONDS]

/** A start calls the function, which would look at the column. */
const WITHOUT_COLUMN = `
  alter table time_logs drop column position;
  create or replace function keep_time_log_positions() returns bigint language sql as 'select 0::bigint'`;

await withBench(async (bench) => {
  const whole = await bench.start(await bench.createDatabase('whole'));
  const without = await bench.start(await bench.createDatabase('without', WITHOUT_COLUMN));
  await compareCreates(bench, { with: whole, without }, optionsOf(process.argv.slice(2)));
});
