import { describe, expect, it } from '@jest/globals';
import {
  type ArgumentsHost,
  Logger,
  Catch,
  type ExceptionFilter,
  HttpException,
  NotFoundException,
} from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { DomainError } from './domain-error.js';
import { HostErrorFilter } from './host-error.filter.js';

// A fault is thrown here on purpose.
Logger.overrideLogger(false);

class Remembering implements ExceptionFilter {
  readonly caught: unknown[] = [];

  catch(thrown: unknown): void {
    this.caught.push(thrown);
  }
}
@Catch()
class All extends Remembering {}
@Catch(HttpException)
class OfHttp extends Remembering {}
@Catch(DomainError)
class OfDomain extends Remembering {}

/** What ErrorEnvelopeFilter needs of a response. */
class FakeResponse {
  readonly locals = {};
  statusCode = 0;
  body = '';
  isDestroyed = false;

  constructor(readonly headersSent = false) {}

  readonly headers = new Map<string, unknown>();

  setHeader(name: string, value: unknown): void {
    this.headers.set(name, value);
  }
  hasHeader(name: string): boolean {
    return this.headers.has(name);
  }
  end(text: string): void {
    this.body = text;
  }
  destroy(): void {
    this.isDestroyed = true;
  }
}

const hostOf = (response: FakeResponse): ArgumentsHost => new ExecutionContextHost([{}, response]);
const refusal = new DomainError('SERVICE_UNAVAILABLE', 'away');
const conflict = new HttpException({ success: false, error: 'SERVICE_UNAVAILABLE', message: 'away' }, 503, {
  cause: refusal,
});
const missing = new NotFoundException();
const fault = new RangeError('a fault');

describe('HostErrorFilter', () => {
  it.each([
    ['catches all', new All(), [conflict, missing, fault], []],
    ['catches HttpExceptions', new OfHttp(), [conflict, missing], [500]],
    ['catches DomainErrors', new OfDomain(), [refusal], [404, 500]],
  ])('gives a filter that %s what it catches, and answers the rest', (_what, theirs, given, answered) => {
    const filter = new HostErrorFilter(theirs);
    const statuses = [refusal, missing, fault].map((thrown) => {
      const response = new FakeResponse();
      filter.catch(thrown, hostOf(response));
      return response.statusCode;
    });
    expect(theirs.caught).toEqual(given);
    expect(theirs.caught[0]).toHaveProperty(
      ...((theirs instanceof OfDomain ? ['code', refusal.code] : ['cause', refusal]) as [string, unknown]),
    );
    expect(statuses.filter((status) => status !== 0)).toEqual(answered);
  });

  it('answers all where there is no other filter', () => {
    const response = new FakeResponse();
    new HostErrorFilter().catch(refusal, hostOf(response));
    expect([response.statusCode, JSON.parse(response.body)]).toEqual([
      503,
      { success: false, error: 'SERVICE_UNAVAILABLE', message: 'away' },
    ]);
  });

  it('says when to try again before a filter is asked that may not know it, unless somebody has said it', () => {
    const asked: unknown[] = [];
    const theirs: ExceptionFilter = {
      catch: (_thrown, host) =>
        asked.push(host.switchToHttp().getResponse<FakeResponse>().headers.get('Retry-After')),
    };
    const filter = new HostErrorFilter(theirs);
    for (const thrown of [refusal, new DomainError('RATE_LIMITED', 'wait', { retryAfter: 17 }), missing])
      filter.catch(thrown, hostOf(new FakeResponse()));
    const response = new FakeResponse();
    response.setHeader('Retry-After', '60');
    filter.catch(refusal, hostOf(response));
    expect(asked).toEqual(['1', '17', undefined, '60']);
  });

  it('cuts an answer that has begun, whatever other filter there is', () => {
    const [theirs, response] = [new All(), new FakeResponse(true)];
    new HostErrorFilter(theirs).catch(refusal, hostOf(response));
    expect([theirs.caught, response.isDestroyed]).toEqual([[], true]);
  });
});
