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
import { responseForThrown } from './error-envelope.js';
import { ErrorEnvelopeFilter, setErrorHeaders } from './error-envelope.filter.js';

/** The injection token of a host's exception filter, which replaces ErrorEnvelopeFilter. */
export const HOST_FILTER = Symbol.for('time-logs.HOST_FILTER');

/**
 * Passes an error to the host's filter if that catches it: a DomainError as an HttpException, which
 * has the DomainError as its cause. Handles all other errors as ErrorEnvelopeFilter does.
 */
@Catch()
@Injectable()
export class HostErrorFilter implements ExceptionFilter {
  private readonly envelopeFilter = new ErrorEnvelopeFilter();

  constructor(@Optional() @Inject(HOST_FILTER) private readonly hostFilter?: ExceptionFilter) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const { headersSent } = host.switchToHttp().getResponse<Response>();
    const caught = this.hostFilter && !headersSent ? formCaughtBy(this.hostFilter, thrown) : undefined;
    if (caught === undefined) {
      this.envelopeFilter.catch(thrown, host);
    } else {
      setErrorHeaders(thrown, host);
      this.hostFilter!.catch(caught, host);
    }
  }
}

/** Returns the thrown value in the form that a filter catches, or undefined if it catches none. */
function formCaughtBy(filter: ExceptionFilter, thrown: unknown): unknown {
  const types = (Reflect.getMetadata(FILTER_CATCH_EXCEPTIONS, filter.constructor) ?? []) as Type[];
  const converted = thrown instanceof DomainError ? toHttpException(thrown) : thrown;
  if (types.length === 0) return converted;
  return [thrown, converted].find((form) => types.some((type) => form instanceof type));
}

function toHttpException(error: DomainError): HttpException {
  const { status, body } = responseForThrown(error);
  return new HttpException(body, status, { cause: error });
}
