/* One format for all errors, whether Nest, Express, Node or this project reports them. */

export {
  batchError,
  DomainError,
  type Fault,
  faultOf,
  faultsAt,
  throwFaults,
  reasonOf,
  validationError,
} from './domain-error.js';
export { responseForKind, responseForThrown } from './error-envelope.js';
export { ErrorEnvelopeFilter } from './error-envelope.filter.js';
export { HOST_FILTER, HostErrorFilter } from './host-error.filter.js';
export type { ErrorCode } from './error-kinds.js';
