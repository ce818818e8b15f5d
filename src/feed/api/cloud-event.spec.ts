import { describe, expect, it } from '@jest/globals';
import { TimeLogEvent } from '../domain/time-log-event.js';
import { cloudEventOf, requireEventSource } from './cloud-event.js';

it('marks a deletion as http-feeds does', () => {
  const log = {
    id: '019c1370-4e1b-7000-8000-000000000001',
    projectId: '0a000000-0000-4000-8000-000000000001',
  };
  expect(cloudEventOf(new TimeLogEvent('7', log, new Date(0)))).toEqual({
    specversion: '1.0',
    id: `7-${log.id}`,
    source: '/api/v1/time-logs',
    type: 'time-log.deleted',
    method: 'DELETE',
    subject: log.projectId,
    time: '1970-01-01T00:00:00.000Z',
    datacontenttype: 'application/json',
    data: log,
  });
});

describe('the source of events', () => {
  it('has a default', () => {
    expect(requireEventSource()).toBe('/api/v1/time-logs');
  });

  it.each([
    '/work/time-logs',
    'work',
    'https://host.example/work?of=a%20b#logs',
    'urn:example:time-logs',
    'mailto:logs@host.example',
    '//host.example/[a]',
  ])('may be %s', (source) => {
    expect(requireEventSource(source)).toBe(source);
  });

  it.each(['', 'a b', 'ü', 'a%2', 'a#b#c', 'http://[', '"', '\\', '\n', 'a\0'])('is not %j', (source) => {
    expect(() => requireEventSource(source)).toThrow(
      'source must be a URI-reference (RFC 3986) that identifies the origin of the events, such as /work/time-logs or urn:example:time-logs',
    );
  });
});
