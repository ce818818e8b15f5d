import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { DomainError } from 'time-logs/errors';

/** The errors of time logs in the form of ours (RFC 9457). */
@Catch(DomainError)
export class ProblemFilter implements ExceptionFilter {
  catch({ status, code, message, issues }: DomainError, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const problem = { status, title: code, detail: message, issues };
    response.status(status).type('application/problem+json').send(problem);
  }
}
