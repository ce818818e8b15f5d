// Records the rows of a CSV file in UTF-8, with a header, that the service lacks:
// TIME_LOGS_URL=… TIME_LOGS_TOKEN=… node import-csv.mjs FILE
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { TimeLogClient } from '@time-logs/client';

const { TIME_LOGS_URL: baseUrl, TIME_LOGS_TOKEN: token } = process.env;
const client = new TimeLogClient({ baseUrl, token });
// After a header, lines such as 3f2b8c1e-9d4a-4c57-8f16-0a7e5b2d9c43,2026-01-31,1.5,Review
const [, ...lines] = (await readFile(process.argv[2], 'utf8')).split(/\r?\n/).filter(Boolean);
const logs = lines.map((line) => {
  const [projectId, date, duration, ...rest] = line.split(',');
  return { projectId, date, duration: Number(duration), description: rest.join(',') };
});
/** Makes a key of each row. Equal rows are different logs, so it has the number of the occurrence. */
function keysOfRows(counts = new Map()) {
  return ({ projectId, date, duration, description }) => {
    const row = JSON.stringify([projectId.toLowerCase(), date, duration, description]);
    counts.set(row, (counts.get(row) ?? 0) + 1);
    return row + counts.get(row);
  };
}
const [keyOf, keyOfStored] = [keysOfRows(), keysOfRows()];
const missing = new Map(logs.map((log) => [keyOf(log), log]));
const days = logs.map(({ date }) => date).sort();
const stored = await client.export({ from: days[0], to: days.at(-1) });
for await (const log of stored) missing.delete(keyOfStored(log));
const idempotencyKey = createHash('sha256')
  .update([...missing.keys()].join())
  .digest('hex');
await client.recordAll([...missing.values()], { idempotencyKey });
console.log(`recorded ${missing.size} of ${logs.length} rows`);
