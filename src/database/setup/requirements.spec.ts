import { expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { requireSuitableDatabase } from './requirements.js';

const SUITABLE = {
  version: 150_001,
  encoding: 'UTF8',
  fsync: 'on',
  commit: 'on',
  isolation: 'read committed',
};
const check = (settings: object) => {
  const source = { query: () => Promise.resolve([{ ...SUITABLE, ...settings }]) };
  return requireSuitableDatabase(source as unknown as DataSource, 'connection.url');
};

it.each([{}, { version: 180_004 }, { commit: 'remote_apply' }, { isolation: 'read uncommitted' }])(
  'accepts %j',
  async (settings) => {
    await expect(check(settings)).resolves.toBeUndefined();
  },
);

it.each([
  [{ version: 140_011 }, /^PostgreSQL 14 is not supported: use version 15 or later$/],
  [{ encoding: 'LATIN1' }, /^the encoding of the database is LATIN1, .*, and name it in connection\.url$/],
  [{ fsync: 'off' }, /^fsync is off, so a crash of the database would lose logs: turn it on$/],
  [{ commit: 'off' }, /^synchronous_commit is off, .*: run alter role ROLE set synchronous_commit = on$/],
  [{ commit: 'local' }, /^synchronous_commit is local, /],
  [{ commit: 'remote_write' }, /^synchronous_commit is remote_write, /],
  [
    { isolation: 'serializable' },
    /^the default isolation level is serializable, .*: run alter role ROLE set default_transaction_isolation = 'read committed'$/,
  ],
])('refuses %j in one line that says what to do', async (settings, message) => {
  await expect(check(settings)).rejects.toThrow(message);
});
