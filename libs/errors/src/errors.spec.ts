import { describe, expect, it } from '@jest/globals';
import { DomainError, type Fault, faultOf, reasonOf, throwFaults } from './domain-error.js';
import {
  BadRequestException,
  ConflictException,
  ForbiddenException,
  HttpException,
  InternalServerErrorException,
  NotFoundException,
  ServiceUnavailableException,
  UnprocessableEntityException,
} from '@nestjs/common';
import { responseForKind, responseForThrown } from './error-envelope.js';

const DURATION = faultOf('duration', 0, 'range', 'must be positive', { above: 0 });
const UNKNOWN: Fault = {
  field: 'foo',
  rule: 'unknown',
  params: {},
  message: 'unknown field: foo',
  logged: 'unknown field',
};

it('a missing value violates the rule `required`, in the words of its other rules', () => {
  expect(faultOf('date', undefined, 'date', 'must be a day', { max: 1 })).toEqual({
    field: 'date',
    rule: 'required',
    params: {},
    message: 'date must be a day',
  });
});

it('throwFaults throws the messages and issues of the faults that there are, if any', () => {
  throwFaults([]);
  throwFaults([undefined]);
  const secret = { ...UNKNOWN, field: 'bar', message: 'unknown field: bar' };
  expect(() => throwFaults([DURATION, undefined, UNKNOWN, secret])).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      message: 'duration must be positive; unknown field: foo; unknown field: bar',
      logged: 'duration must be positive; unknown field',
      issues: [
        { field: 'duration', rule: 'range', params: { above: 0 } },
        { field: 'foo', rule: 'unknown', params: {} },
        { field: 'bar', rule: 'unknown', params: {} },
      ],
    }),
  );
});

it('returns the message of each address of a host name if the error itself has none', () => {
  const reasons = ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED 127.0.0.2:5432'];
  const error = new AggregateError(reasons.map((reason) => new Error(reason)));
  expect(reasonOf(error)).toBe(reasons.join(', '));
});

it('returns the message of an error, and nothing of another value', () => {
  expect([reasonOf(new Error('no')), reasonOf('no')]).toEqual(['no', 'unknown']);
});

const SECRET = 'select * from secrets';

describe('responseForThrown', () => {
  it('sends the `retryAfter` of a DomainError', () => {
    const { headers } = responseForThrown(new DomainError('RATE_LIMITED', 'wait', { retryAfter: 42 }));
    expect(headers).toMatchObject({ 'Retry-After': '42' });
  });

  it.each([
    [new ConflictException('archived'), 409, 'CONFLICT', 'archived'],
    [new HttpException({ message: 'not yours', reason: 1 }, 403), 403, 'FORBIDDEN', 'not yours'],
    [new UnprocessableEntityException('too late'), 422, 'UNPROCESSABLE_ENTITY', 'too late'],
    [
      new BadRequestException(['a is wrong', 'b is wrong']),
      400,
      'VALIDATION_ERROR',
      'a is wrong; b is wrong',
    ],
    [new HttpException('tea', 418), 418, 'IM_A_TEAPOT', 'tea'],
    [new HttpException('nameless', 499), 499, 'VALIDATION_ERROR', 'nameless'],
  ])('keeps the status and message of a host: %p', (thrown, status, error, message) => {
    expect(responseForThrown(thrown)).toMatchObject({ status, body: { success: false, error, message } });
  });

  it.each([
    [new BadRequestException(), 400, 'malformed request'],
    [new ForbiddenException('Forbidden resource'), 403, 'access is denied'],
    [new HttpException({ reason: SECRET }, 404), 404, 'no such path'],
    [new HttpException(new Error(SECRET) as never, 409), 409, 'Conflict'],
  ])('has a default message if neither the host nor Nest gave one: %p', (thrown, status, message) => {
    expect(responseForThrown(thrown)).toMatchObject({ status, body: { message } });
  });

  it.each([
    [new InternalServerErrorException(SECRET), 500, 'INTERNAL_ERROR'],
    [new ServiceUnavailableException(SECRET), 503, 'SERVICE_UNAVAILABLE'],
    [new HttpException(SECRET, 302), 500, 'INTERNAL_ERROR'],
  ])('never sends the message of another status: %p', (thrown, status, error) => {
    const response = responseForThrown(thrown);
    expect(response).toMatchObject({ status, body: { success: false, error } });
    expect(JSON.stringify(response)).not.toContain(SECRET);
  });

  it.each([
    [new NotFoundException(SECRET), 404, 'NOT_FOUND', 'no such path'],
    [new HttpException(SECRET, 413), 413, 'PAYLOAD_TOO_LARGE', 'the request body is too large'],
  ])('never sends the message of Nest if no route was reached: %p', (thrown, status, error, message) => {
    expect(responseForThrown(thrown, false)).toMatchObject({ status, body: { error, message } });
  });

  it.each([new TypeError(SECRET), SECRET, null, { status: 400, message: SECRET }])(
    'responds to any other value with the fixed message of INTERNAL_ERROR: %p',
    (thrown) => {
      expect(responseForThrown(thrown)).toEqual(responseForKind('INTERNAL_ERROR'));
    },
  );
});
