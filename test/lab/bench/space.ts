import type { DataSet } from './data-set.js';
import type { Space } from './results.js';
import { connect } from './server.js';

/** Measures what the service's logs take, and whatever other table bears their name. */
export async function measureSpace({ serviceUrl, size }: DataSet): Promise<Space> {
  const client = await connect(serviceUrl);
  try {
    const { rows } = await client.query<{ name: string; bytes: string }>(
      `select relname as name, pg_total_relation_size(oid) as bytes from pg_class
        where relkind = 'r' and (relname = 'time_logs' or relname like 'time\\_log\\_%') order by relname`,
    );
    const { time_logs: logs = NaN, ...others } = Object.fromEntries(
      rows.map(({ name, bytes }) => [name, Number(bytes)]),
    );
    return { size, logs, others };
  } finally {
    await client.end();
  }
}
