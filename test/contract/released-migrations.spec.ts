import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { expect, it } from '@jest/globals';
import type { QueryRunner } from 'typeorm';
import { DataSource, migrations, plainOptions } from '../support/storage.js';

/**
 * The first half of the SHA-256 of the SQL of each released migration, and of each file with the migrations of a
 * release. It never changes, because databases have been made by it. A change of the schema is a new migration.
 */
const RELEASED: Readonly<Record<string, string>> = {
  CreateAccessTokens1763683100000: '858f32e883fa7183f5001d4274ace65f',
  BindAccessTokens1764806300000: 'f7b5f3e301629d16de409055f1e894ec',
  RotateAccessTokens1766000050000: '2164f1aadcacd4ab9c22705a7e9f1ff9',
  BindAccessTokensToAttributes1766100700000: 'd64195178ef4811c36a2fa3d4b2ad2f4',
  CreateTimeLogRelays1764288000000: 'ed67a5f3ad8eeeebccbb4b16c15d36a5',
  '0.1.sql': '9c49ed592d420b934230bd1bb2cda385',
  '0.2.sql': '6874a29b7576c65eacdd7cd064080667',
  '0.3.sql': 'f878e47db787362d5003b10534549440',
};
const ROOT = join(import.meta.dirname, '..', '..');
const FILES = join(ROOT, 'src', 'time-log', 'infrastructure', 'schema', 'released');

/** Our own DataSource, and one of a host with a schema and a prefix of its own. */
const SOURCES = [{}, { schema: 'elsewhere', entityPrefix: 'our_' }].map(
  (options) => new DataSource({ ...plainOptions('postgres://nobody@localhost/nothing'), ...options }),
);

/** Returns the statements of a migration, which get no results. */
async function statementsOf(Migration: (typeof migrations)[number]): Promise<string> {
  const statements: unknown[] = [];
  for (const dataSource of SOURCES) {
    const recorder = {
      dataSource,
      connection: dataSource,
      getCurrentSchema: () => Promise.resolve('public'),
      query: (...statement: unknown[]) => Promise.resolve(void statements.push(statement)),
    };
    await new Migration().up(recorder as unknown as QueryRunner);
  }
  return JSON.stringify(statements);
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

it('released migrations are those that were released', async () => {
  const released: Record<string, string> = {};
  for (const Migration of migrations) {
    const { name } = new Migration();
    if (name in RELEASED) released[name] = digestOf(await statementsOf(Migration));
  }
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  for (const file of await readdir(FILES))
    if (parse(file).name.localeCompare(version, 'en', { numeric: true }) < 0)
      released[file] = digestOf(await readFile(join(FILES, file), 'utf8'));
  expect(released).toEqual(RELEASED);
});
