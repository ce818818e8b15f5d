import { expect } from '@jest/globals';

/** A start of the embedded PostgreSQL is refused with such a message. */
export function expectRefused(starting: Promise<unknown>, message: RegExp): Promise<void> {
  return expect(starting).rejects.toMatchObject({
    name: 'EmbeddedPostgresError',
    message: expect.stringMatching(message),
  });
}
