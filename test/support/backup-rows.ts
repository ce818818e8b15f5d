import { type DataSource, DataSource as Source } from 'typeorm';

/**
 * Rows whose values a careless backup would change: the edges of numbers and of the calendar, quotes, escapes, line
 * ends.
 */
export const ODD_ROWS = [
  ['5e-324', '', '0001-01-01'],
  ['1.7976931348623157e308', '😀 👩‍👩‍👧 ﷺ e\u0301 \u{10FFFF}', '9999-12-31'],
  ['0.1', 'a\\b \\n "quoted" \\\\ \\u0041', '2024-02-29'],
  ['0.10', 'lines\nand\r\nmore\t\u0001\u2028\u007f', '1582-10-10'],
  ['123456789012345678901234567890.123456789', '{"table":"time_logs"}', '2026-01-31'],
] as const;
/** The last of them has attributes too. */
const ODD_ATTRIBUTES = JSON.stringify({ 'a\\b \n\t': ['\\N', '\\.', '\u0001😀"', 5e-324, null, {}] });

/** The id of row n: version 7, a millisecond after that of the row before. */
const ID = `(lpad(to_hex(1763683200000 + n), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || repeat('0', 15))::uuid`;

/** Does something on a connection of its own. */
export async function withSql<T>(url: string, act: (sql: DataSource) => Promise<T>): Promise<T> {
  const options = { type: 'postgres', url, poolErrorHandler: () => undefined } as const;
  const sql = await new Source(options).initialize();
  try {
    return await act(sql);
  } finally {
    await sql.destroy();
  }
}

/** Adds the rows with the numbers `from` to `to`, with an SQL expression of n as their descriptions. */
export async function addRows(sql: DataSource, from: number, to: number, description = `'work ' || n`) {
  await sql.query(`
    insert into time_logs (id, project_id, duration, description, date)
    select ${ID}, gen_random_uuid(), n + 0.1, ${description}, date '2026-01-01' + n % 300
    from generate_series(${from}, ${to}) n`);
}

export async function addOddRows(sql: DataSource): Promise<void> {
  for (const [n, [duration, description, date]] of ODD_ROWS.entries()) {
    await sql.query(
      `insert into time_logs (id, project_id, duration, description, date, attributes)
       select ${ID}, gen_random_uuid(), $2, $3, $4, $5 from (select $1::int as n) one`,
      [n, duration, description, date, n === ODD_ROWS.length - 1 ? ODD_ATTRIBUTES : null],
    );
  }
}

/** Every row of every table but the list of migrations and those of counts, which triggers keep, as text. */
export async function everything(sql: DataSource): Promise<Record<string, string[]>> {
  const tables: { name: string }[] = await sql.query(
    `select tablename as name from pg_tables
     where schemaname = 'public' and tablename <> 'migrations'
       and tablename <> all (array['time_log_months', 'time_log_decades', 'time_log_changes', 'time_log_folds']) order by 1`,
  );
  const content: Record<string, string[]> = {};
  for (const { name } of tables) {
    const rows: { row: string }[] = await sql.query(
      `select to_json(t)::text as row from ${name} t order by 1`,
    );
    content[name] = rows.map(({ row }) => row);
  }
  return content;
}
