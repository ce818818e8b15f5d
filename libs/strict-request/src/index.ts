/* Without it unknown fields pass, numbers come as texts, and deep or endless input reaches the use cases. */

export { isOverdue, withinDeadline } from './deadline.js';
export { DEPTH_LIMIT, isJsonObject, parseJson } from './json-body.js';
export { Omittable } from './omittable.decorator.js';
export { Obeys } from './obeys.decorator.js';
export { applyRules, REQUEST_RULES, type RequestRules, RequestRulesGuard } from './request-rules.guard.js';
export { wellFormedId } from './request-id.js';
export {
  type Caller,
  type FurtherMember,
  type NotedChange,
  type Outlet,
  type RequestState,
  stateOf,
} from './request-state.js';
export { StrictBody, StrictHeaders, StrictPath, StrictQuery } from './strict-request.decorators.js';
export { MessageData, messageTooLarge, requireBoundedMessage, StrictMessage } from './strict-message.js';
export { Drainable } from './drainable.js';
