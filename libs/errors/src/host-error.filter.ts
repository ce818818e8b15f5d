import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Inject,
  Injectable,
  Optional,
  type Type,
} from '@nestjs/common';
import { FILTER_CATCH_EXCEPTIONS } from '@nestjs/common/constants.js';
import type { Response } from 'express';
import { DomainError } from './domain-error.js';
import { answerForThrown } from './error-envelope.js';
import { ErrorEnvelopeFilter, setErrorHeaders } from './error-envelope.filter.js';

/** The filter of a host that a module provides for its controllers, in the place of ErrorEnvelopeFilter. */
export const HOST_FILTER = Symbol.for('time-logs.HOST_FILTER');

/**
 * Hands what is thrown to the host's filter, as far as that catches it: a DomainError as the HttpException that filters
 * know, with the DomainError as its cause. Everything else it answers as ErrorEnvelopeFilter does.
 */
@Catch()
@Injectable()
export class HostErrorFilter implements ExceptionFilter {
  private readonly ours = new ErrorEnvelopeFilter();

  constructor(@Optional() @Inject(HOST_FILTER) private readonly theirs?: ExceptionFilter) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const isAnswered = host.switchToHttp().getResponse<Response>().headersSent;
    const caught = this.theirs && !isAnswered ? formCaughtBy(this.theirs, thrown) : undefined;
    if (caught === undefined) {
      this.ours.catch(thrown, host);
    } else {
      setErrorHeaders(thrown, host);
      this.theirs!.catch(caught, host);
    }
  }
}

/** What was thrown in the form that a filter catches, or undefined. */
function formCaughtBy(filter: ExceptionFilter, thrown: unknown): unknown {
  const kinds = (Reflect.getMetadata(FILTER_CATCH_EXCEPTIONS, filter.constructor) ?? []) as Type[];
  const known = thrown instanceof DomainError ? asHttpException(thrown) : thrown;
  if (kinds.length === 0) return known;
  return [thrown, known].find((form) => kinds.some((kind) => form instanceof kind));
}

function asHttpException(error: DomainError): HttpException {
  const { status, body } = answerForThrown(error);
  return new HttpException(body, status, { cause: error });
}
