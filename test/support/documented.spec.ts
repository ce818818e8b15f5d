import { expect, it } from '@jest/globals';
import { expectDocumented } from './documented.js';
import { expectedItem } from './expected-logs.js';

const made = { id: '019c1363-4a3b-7245-b697-5dec9f548a52', createdAt: '2026-01-31T09:30:00.123Z' };
const log = expectedItem({ projectId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301', duration: 1.5 }, made);
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'x-request-id': 'a',
  link: '<?page=1>; rel="first", <?page=1>; rel="last"',
};

it('expectDocumented refuses what the document does not describe', () => {
  const check = (path: string, item: object, status = 200, more = {}) => {
    const body = { success: true, data: [item], meta: { total: 1, page: 1, limit: 50 } };
    const answer = { status, headers: { ...headers, ...more }, text: JSON.stringify(body) };
    return () => expectDocumented({ method: 'GET', path }, answer);
  };
  const path = '/api/v1/time-logs';
  expect(check(path, log)).not.toThrow();
  expect(check(path, { ...log, date: '2026-01-31' })).toThrow('body/data/0: must NOT have unevaluated');
  expect(check(path, log, 404)).toThrow('the status 404 is not in the document');
  expect(check(path, log, 200, { link: undefined })).toThrow('header Link: is missing');
  expect(check(`${path}?limit=1001`, log)).toThrow('parameter limit: must be <= 1000');
});
