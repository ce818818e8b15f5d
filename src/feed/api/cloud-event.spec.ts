import { describe, expect, it } from '@jest/globals';
import { requireEventSource } from './cloud-event.js';

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
