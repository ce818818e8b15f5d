import { Catch } from '@nestjs/common';
import { DomainError } from './domain-error.js';
import { ErrorEnvelopeFilter } from './error-envelope.filter.js';

/**
 * Answers DomainErrors alone, as ErrorEnvelopeFilter does: for routes and messages of a host that call a service of
 * ours. Whatever else is thrown there stays with the host's own filters.
 */
@Catch(DomainError)
export class DomainErrorFilter extends ErrorEnvelopeFilter {}
