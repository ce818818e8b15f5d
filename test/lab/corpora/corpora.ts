import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { EmbeddedPostgres } from '@time-logs/embedded-postgres';
import { CorporaError, type Corpora, LAYOUT, readCorpora } from './read.js';
import { run, ZONES } from './run.js';

const USAGE = `Usage: npm run suite -- corpora DIR

DIR holds public test data, which the service must store and return unchanged, or refuse:

${LAYOUT}`;

try {
  const [directory, ...rest] = process.argv.slice(2);
  if (directory === undefined || rest.length > 0) throw new CorporaError(`give one directory\n\n${USAGE}`);
  // npm runs scripts in the folder of the project; a relative path is meant from where npm was called.
  const corpora = await readCorpora(resolve(process.env.INIT_CWD ?? '.', directory));
  if (!(await hold(corpora))) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/**
 * Sends the corpora to the service on a PostgreSQL of its own, and tells what became of them; true where all is as it
 * must be.
 */
async function hold(corpora: Corpora): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'time-logs-corpora-'));
  const postgres = await EmbeddedPostgres.start({ dataDirectory: join(folder, 'postgres') });
  try {
    const { counts, faults } = await run(corpora, postgres.url, (line) => console.log(line));
    for (const fault of faults) console.error(fault);
    const { jsonFiles, naughtyStrings, utf8, rawRequests } = corpora;
    console.log(
      `${jsonFiles.length} files of JSONTestSuite, ${naughtyStrings.length} naughty strings, ` +
        `${utf8.length} UTF-8 sequences, ${rawRequests.length} raw HTTP requests, under ${ZONES.length} time zones: ` +
        `${counts.sent} inputs sent, ${counts.stored} stored, ${counts.refused} refused, ${counts.served} served, ` +
        `${counts.closed} closed, 5xx ${counts.failed}, hangs ${counts.hung}, faults ${faults.length}`,
    );
    return faults.length === 0;
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
