import { Catch } from '@nestjs/common';
import { DomainError } from './domain-error.js';
import { ErrorEnvelopeFilter } from './error-envelope.filter.js';

/**
 * Handles only DomainErrors, as ErrorEnvelopeFilter does. It is for a host's own routes and
 * messages that call a service of this project. The host's filters handle all other errors.
 */
@Catch(DomainError)
export class DomainErrorFilter extends ErrorEnvelopeFilter {}
