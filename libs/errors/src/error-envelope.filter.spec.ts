import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { firstValueFrom, type Observable } from 'rxjs';
import { DomainError } from './domain-error.js';
import { ErrorEnvelopeFilter } from './error-envelope.filter.js';

const missing = new DomainError('NOT_FOUND', 'no such log');
const body = { success: false, error: 'NOT_FOUND', message: 'no such log' };
const error = jest.fn();

/** Returns what the filter returns for a context, whose first argument is a socket or, for GraphQL, nothing. */
function caught(type: string, thrown: unknown, socket?: object): unknown {
  const host = new ExecutionContextHost([socket, {}]);
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

  const wsException = (sent: unknown) => Object.assign(new Error(), { getError: () => sent });
  it.each([
    ['our error', missing, body],
    ['text of a host', wsException('bad input'), { status: 'error', message: 'bad input' }],
    ['object of a host', wsException({ code: 7 }), { code: 7 }],
  ])('emits an error of a WebSocket: %s', (_name, thrown, data) => {
    const socket = { emit: jest.fn(), send: jest.fn() };
    caught('ws', thrown, socket);
    caught('ws', thrown, { ...socket, readyState: 1 });
    expect(socket.emit.mock.calls).toEqual([['exception', data]]);
    expect(socket.send.mock.calls).toEqual([[JSON.stringify({ event: 'exception', data })]]);
    expect(error).not.toHaveBeenCalled();
  });

  it.each(['rpc', 'ws'])('logs an unexpected error of any realm with its stack: %s', (type) => {
    const foreign = runInNewContext('new TypeError("no connection")') as Error;
    caught(type, foreign, { emit: jest.fn() });
    expect(error.mock.calls).toEqual([['TypeError: no connection', foreign.stack, 'ErrorEnvelopeFilter']]);
  });
});
