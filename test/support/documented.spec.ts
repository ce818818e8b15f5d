import { describe, expect, it } from '@jest/globals';
import { type DocumentedAnswer, type DocumentedRequest, expectDocumented } from './documented.js';
import { expectedItem } from './expected-logs.js';

const made = { id: '019c1363-4a3b-7245-b697-5dec9f548a52', createdAt: '2026-01-31T09:30:00.123Z' };
const log = expectedItem({ projectId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301', duration: 1.5 }, made);
const meta = { total: 1, page: 1, limit: 50 };
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'x-request-id': 'a',
  link: '<?page=1>; rel="first", <?page=1>; rel="last"',
};
const unauthorized = { success: false, error: 'UNAUTHORIZED', message: 'a valid bearer token is required' };
const challenge = { ...headers, 'www-authenticate': 'Bearer realm="time-logs"' };

const located = { ...headers, location: `time-logs/${made.id}`, etag: '"a"' };
const attached = {
  ...{ ...headers, 'content-type': 'application/x-ndjson' },
  'content-disposition': 'attachment; filename="time-logs.ndjson"',
};

const LIST: DocumentedRequest = { method: 'GET', path: '/api/v1/time-logs' };
const RECORD: DocumentedRequest = { method: 'POST', path: '/api/v1/time-logs' };

const answer = (status: number, body: unknown, given: DocumentedAnswer['headers'] = headers) => ({
  status,
  headers: given,
  text: JSON.stringify(body),
});
const page = (item: object = log) => answer(200, { success: true, data: [item], meta });

describe('expectDocumented', () => {
  it.each<[string, DocumentedRequest, DocumentedAnswer]>([
    ['a list', LIST, page()],
    ['a list in other letters', { method: 'GET', path: 'http://x/API/v1/Time-Logs/?page=007' }, page()],
    ['a log', RECORD, answer(201, { success: true, data: { ...log, date: '2026-01-31' } }, located)],
    [
      'an export in its second type',
      { method: 'GET', path: `${LIST.path}/export?format=ndjson` },
      answer(200, log, attached),
    ],
    ['a missing token', LIST, answer(401, unauthorized, challenge)],
    [
      'a missing token on an unknown path',
      { method: 'PUT', path: '/x' },
      answer(401, unauthorized, challenge),
    ],
    ['a head', { method: 'HEAD', path: '/api/v1/time-logs' }, { ...page(), text: '' }],
  ])('takes %s', (_what, request, given) => {
    expect(() => expectDocumented(request, given)).not.toThrow();
  });

  it.each<[string, DocumentedRequest, DocumentedAnswer, string]>([
    ['a status', LIST, answer(404, unauthorized), 'the status 404 is not in the document'],
    ['a status of an unknown path', { method: 'GET', path: '/x' }, page(), 'the status 200 is not'],
    [
      'a status of another method',
      { method: 'PUT', path: LIST.path },
      answer(404, {}),
      'the status 404 is not',
    ],
    ['a new member', LIST, page({ ...log, date: '2026-01-31' }), 'body/data/0: must NOT have unevaluated'],
    [
      'a missing member',
      LIST,
      page({ ...log, id: undefined }),
      "body/data/0: must have required property 'id'",
    ],
    ['a value', LIST, page({ ...log, createdAt: '2026-01-31' }), 'body/data/0/createdAt: must match'],
    ['a body that is no JSON', LIST, { ...page(), text: 'OK' }, 'body: must be object'],
    ['the code of another status', LIST, answer(400, unauthorized), 'body/error: must be equal to constant'],
    [
      'a missing header',
      LIST,
      { ...page(), headers: { ...headers, link: undefined } },
      'header Link: is missing',
    ],
    ['an ETag', LIST, { ...page(), headers: { ...headers, etag: '"a"' } }, 'header ETag: is not in the doc'],
    ['a header', LIST, { ...page(), headers: { ...headers, link: 'x' } }, 'header Link: must match pattern'],
    [
      'a type',
      LIST,
      { ...page(), headers: { ...headers, 'content-type': 'text/html' } },
      'Content-Type: is text/html',
    ],
    ['a parameter', { ...LIST, path: `${LIST.path}?foo=1` }, page(), 'parameter foo: is not in the document'],
    [
      'a value of a parameter',
      { ...LIST, path: `${LIST.path}?limit=1001` },
      page(),
      'parameter limit: must be <= 1000',
    ],
    [
      'a request',
      { ...RECORD, body: '{"duration":0}' },
      answer(201, { success: true, data: { ...log, date: '2026-01-31' } }),
      'request body/duration: must be > 0',
    ],
  ])('refuses %s that the document does not describe', (_what, request, given, message) => {
    expect(() => expectDocumented(request, given)).toThrow(message);
  });
});
