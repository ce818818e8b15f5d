import { describe, expect, it } from '@jest/globals';
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
import { DomainError } from './domain-error.js';
import { responseForKind, responseForThrown } from './error-envelope.js';

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
