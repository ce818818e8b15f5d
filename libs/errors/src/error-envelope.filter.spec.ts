import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { firstValueFrom, type Observable } from 'rxjs';
import { DomainError } from './domain-error.js';
import { ErrorEnvelopeFilter } from './error-envelope.filter.js';

const missing = new DomainError('NOT_FOUND', 'no such log');
const body = { success: false, error: 'NOT_FOUND', message: 'no such log' };
const error = jest.fn();

/** Returns what the filter returns for a context. */
function caught(type: string, thrown: unknown): unknown {
  const host = new ExecutionContextHost([{}, {}]);
  host.setType(type);
  return new ErrorEnvelopeFilter().catch(thrown, host);
}

describe('ErrorEnvelopeFilter outside of HTTP', () => {
  beforeEach(() => {
    error.mockReset();
    Logger.overrideLogger({ log: error, warn: error, error });
  });
  afterEach(() => {
    Logger.overrideLogger(false);
  });

  it('returns the error of a message', async () => {
    await expect(firstValueFrom(caught('rpc', missing) as Observable<never>)).rejects.toEqual(body);
  });

  it('leaves an error of GraphQL to Nest, which logs and throws it', () => {
    expect([caught('graphql', missing), caught('graphql', new Error('bug'))]).toEqual([undefined, undefined]);
    expect(error).not.toHaveBeenCalled();
  });
});
