import { describe, expect, it } from '@jest/globals';
import { lastEventIdFault, parseEventId, TimeLogEvent } from './domain/time-log-event.js';
import { TimeLog } from '../time-log/domain/time-log.js';
import { requireEventSource } from './api/cloud-event.js';

const LOG_ID = '019c1363-4a3b-7245-b697-5dec9f548a52';
const log = TimeLog.of({ projectId: LOG_ID, duration: 1, description: '', date: '2026-01-31' }, LOG_ID);

describe('the id of an event', () => {
  it.each(['0', '3', '9007199254740993', '9223372036854775807'])('names its cursor: %s', (position) => {
    const { id } = new TimeLogEvent(position, log);
    expect(id).toBe(`${position}-${LOG_ID}`);
    expect(lastEventIdFault(id)).toBeUndefined();
    expect(parseEventId(id)).toEqual({ position, logId: LOG_ID });
  });

  it.each(
    [
      [undefined, 7, '', '7', LOG_ID, `-${LOG_ID}`, `07-${LOG_ID}`, `7.0-${LOG_ID}`, ` 7-${LOG_ID}`],
      [`7-${LOG_ID}\n`, `7-${LOG_ID.replaceAll('-', '')}`, `9223372036854775808-${LOG_ID}`],
      ['x'.repeat(63), 'x'.repeat(65)],
    ].flat(),
  )('is not %j', (text) => {
    expect(lastEventIdFault(text)?.message).toBe('lastEventId must be the id of an event');
  });
});

describe('the source of events', () => {
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
