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

// The filter logs the unexpected errors of this test.
Logger.overrideLogger(false);

class RecordingFilter implements ExceptionFilter {
  readonly caught: unknown[] = [];

  catch(thrown: unknown): void {
    this.caught.push(thrown);
  }
}
@Catch()
class AllFilter extends RecordingFilter {}
@Catch(HttpException)
class HttpFilter extends RecordingFilter {}
@Catch(DomainError)
class DomainFilter extends RecordingFilter {}

/** The members of a response that ErrorEnvelopeFilter uses. */
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
const unexpected = new RangeError('unexpected');

describe('HostErrorFilter', () => {
  it.each([
    ['everything', new AllFilter(), [conflict, missing, unexpected], []],
    ['HttpExceptions', new HttpFilter(), [conflict, missing], [500]],
    ['DomainErrors', new DomainFilter(), [refusal], [404, 500]],
  ])('passes %s to a filter that catches it, and handles the rest', (_kind, hostFilter, passed, handled) => {
    const filter = new HostErrorFilter(hostFilter);
    const statuses = [refusal, missing, unexpected].map((thrown) => {
      const response = new FakeResponse();
      filter.catch(thrown, hostOf(response));
      return response.statusCode;
    });
    expect(hostFilter.caught).toEqual(passed);
    const isDomain = hostFilter instanceof DomainFilter;
    expect(hostFilter.caught[0]).toHaveProperty(
      ...((isDomain ? ['code', refusal.code] : ['cause', refusal]) as [string, unknown]),
    );
    expect(statuses.filter((status) => status !== 0)).toEqual(handled);
  });
});
