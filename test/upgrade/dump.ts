import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';

/** A block of rows in a dump, up to the line that ends it. */
const COPY = /^COPY (.+) FROM stdin;\n([^]*?)^\\\.\n/gm;
/** The escapes of characters in such rows (PostgreSQL, COPY, text format). */
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v' };

/** Loads a gzipped plain dump of pg_dump into an empty database, with pg alone, after a change of its text. */
export async function loadDump(
  file: string,
  url: string,
  change: (dump: string) => string = String,
): Promise<void> {
  const dump = change(gunzipSync(await readFile(file)).toString());
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(dump.replace(COPY, (_block, table: string, rows: string) => insertOf(table, rows)));
  } finally {
    await client.end();
  }
}

function insertOf(table: string, rows: string): string {
  if (rows === '') return '';
  const values = rows
    .slice(0, -1)
    .split('\n')
    .map((row) => `(${row.split('\t').map(literalOf).join()})`);
  return `insert into ${table} values ${values.join(',\n')};\n`;
}

function literalOf(text: string): string {
  if (text === '\\N') return 'null';
  const value = text.replace(/\\(.)/g, (_escape, character: string) => ESCAPES[character] ?? character);
  return `'${value.replaceAll("'", "''")}'`;
}
