/* What a host needs of it. The index is for our own modules, and may change with them. */

export { DomainError } from './domain-error.js';
export { DomainErrorFilter } from './domain-error.filter.js';
export { ErrorEnvelopeFilter } from './error-envelope.filter.js';
export { type ErrorCode, type ErrorKind } from './error-kinds.js';
