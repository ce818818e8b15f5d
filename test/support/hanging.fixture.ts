import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from './test-database.js';

let database: TestDatabase;
let sql: DataSource;
let child: ChildProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  sql = await new DataSource({ type: 'postgres', url: database.url }).initialize();
  await sql.query('create table held ()');
});
afterAll(async () => {
  await sql.destroy();
  await database.drop();
  // Nobody ends this one.
  spawn(process.execPath, ['--eval', 'setInterval(() => undefined, 1000)']);
});

it('hangs', async () => {
  const runner = sql.createQueryRunner();
  try {
    child = spawn(process.execPath, ['--eval', 'process.on("SIGINT", () => 0); setInterval(() => 0, 1000)']);
    await runner.query('begin; lock table held');
    await runner.query('select pg_advisory_lock(1)');
    await new Promise(() => undefined);
  } finally {
    await runner.query('rollback');
  }
}, 1_000);

it('finds no lock and no process of the one that hung', async () => {
  await sql.query('select from held');
  expect(await sql.query('select pg_try_advisory_lock(1) as free')).toEqual([{ free: true }]);
  expect(child.exitCode ?? child.signalCode).not.toBeNull();
});
