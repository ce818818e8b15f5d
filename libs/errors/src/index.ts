/* Without it errors have as many shapes as there are authors: Nest, Express, Node and us. */

export { DomainError } from './domain-error.js';
export { answerFor, answerForThrown } from './error-envelope.js';
export { ErrorEnvelopeFilter } from './error-envelope.filter.js';
export { HOST_FILTER, HostErrorFilter } from './host-error.filter.js';
export { ERROR_KINDS, type ErrorCode } from './error-kinds.js';
export { reasonOf } from './reason.js';
