import { describe, expect, it } from '@jest/globals';
import { BadRequestException, HttpException, NotFoundException } from '@nestjs/common';
import { DomainError } from './domain-error.js';
import { answerFor, answerForThrown } from './error-envelope.js';
import type { ErrorCode } from './error-kinds.js';

/** The table of the interface. */
const STATUSES: [ErrorCode, number][] = [
  ['VALIDATION_ERROR', 400],
  ['UNAUTHORIZED', 401],
  ['FORBIDDEN', 403],
  ['NOT_FOUND', 404],
  ['METHOD_NOT_ALLOWED', 405],
  ['REQUEST_TIMEOUT', 408],
  ['PAYLOAD_TOO_LARGE', 413],
  ['UNSUPPORTED_MEDIA_TYPE', 415],
  ['EXPECTATION_FAILED', 417],
  ['RATE_LIMITED', 429],
  ['HEADERS_TOO_LARGE', 431],
  ['INTERNAL_ERROR', 500],
  ['SERVICE_UNAVAILABLE', 503],
];

const SECRET = 'select * from secrets';

describe('answerFor', () => {
  it.each(STATUSES)('answers %s with %i', (error, status) => {
    expect(answerFor(error, 'why')).toMatchObject({
      status,
      body: { success: false, error, message: 'why' },
    });
    expect(Object.keys(answerFor(error).body)).toEqual(['success', 'error', 'message']);
    expect(answerFor(error).body.message).not.toBe('');
  });

  it.each(STATUSES)('answers %s as JSON in UTF-8, and says when to retry only where that helps', (error) => {
    const retry = error === 'SERVICE_UNAVAILABLE' || error === 'RATE_LIMITED';
    expect(answerFor(error).headers).toEqual({
      'Content-Type': 'application/json; charset=utf-8',
      ...(retry && { 'Retry-After': expect.stringMatching(/^[1-9]\d*$/) }),
    });
  });
});

describe('answerForThrown', () => {
  it('repeats what a DomainError says', () => {
    const { status, body } = answerForThrown(new DomainError('VALIDATION_ERROR', 'size must be positive'));
    expect(status).toBe(400);
    expect(body).toEqual({ success: false, error: 'VALIDATION_ERROR', message: 'size must be positive' });
  });

  it('knows a class that extends DomainError, which others are no instances of', () => {
    class OutOfBudget extends DomainError {}
    const refusal = new OutOfBudget('FORBIDDEN', 'the budget is used up');
    expect(answerForThrown(refusal)).toMatchObject({
      status: 403,
      body: { message: 'the budget is used up' },
    });
    expect([refusal, new DomainError('FORBIDDEN', '')].map((error) => error instanceof OutOfBudget)).toEqual([
      true,
      false,
    ]);
  });

  it('says when to try again where the DomainError knows', () => {
    const { headers } = answerForThrown(new DomainError('RATE_LIMITED', 'wait', { retryAfter: 42 }));
    expect(headers).toMatchObject({ 'Retry-After': '42' });
  });

  it.each([
    [new BadRequestException(SECRET), 400, 'VALIDATION_ERROR'],
    [new NotFoundException(SECRET), 404, 'NOT_FOUND'],
    [new HttpException(SECRET, 418), 418, 'VALIDATION_ERROR'],
    [new HttpException(SECRET, 501), 501, 'INTERNAL_ERROR'],
    [new HttpException(SECRET, 302), 500, 'INTERNAL_ERROR'],
  ])('keeps the code of %p, but not its text', (thrown, status, error) => {
    const answer = answerForThrown(thrown);
    expect(answer).toMatchObject({ status, body: { success: false, error } });
    expect(JSON.stringify(answer)).not.toContain(SECRET);
  });

  it.each([
    new Error(SECRET),
    new TypeError(SECRET),
    SECRET,
    undefined,
    null,
    { status: 400, message: SECRET },
  ])('answers anything else with the fixed text of INTERNAL_ERROR: %p', (thrown) => {
    expect(answerForThrown(thrown)).toEqual(answerFor('INTERNAL_ERROR'));
  });
});
