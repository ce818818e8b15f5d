import { expect, it } from '@jest/globals';
import { connectionOptions, connectTimeoutOf, plainOptions } from './data-source.js';

const urlWith = (query: string) => `postgres://a@b/c${query}`;

it.each([
  ['', undefined],
  ['?connect_timeout=10', 10_000],
  ['?sslmode=disable&connect_timeout=1', 1_000],
  // As in libpq.
  ['?connect_timeout=0', undefined],
])('commands wait for a connection as %s says', (query, timeout) => {
  expect(connectTimeoutOf(urlWith(query))).toBe(timeout);
  expect(plainOptions(urlWith(query))).toMatchObject({ applicationName: 'time-logs' });
  expect(plainOptions(urlWith(query)).connectTimeoutMS).toBe(timeout);
});

it.each([
  ['', 2_000],
  ['?connect_timeout=1', 1_000],
  ['?connect_timeout=10', 2_000],
  ['?connect_timeout=0', 2_000],
])('requests wait for a connection as %s says, within the deadline', (query, timeout) => {
  const options = connectionOptions(urlWith(query), [], { poolSize: 1, deadline: 2_500 });
  expect(options.extra).toMatchObject({ connectionTimeoutMillis: timeout });
});
