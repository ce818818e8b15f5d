/* The public names for host applications. The index is for the modules of this project. */

export { DomainError, type ErrorIssue } from './domain-error.js';
export { DomainErrorFilter, ErrorEnvelopeFilter } from './error-envelope.filter.js';
export { type ErrorCode } from './error-kinds.js';
