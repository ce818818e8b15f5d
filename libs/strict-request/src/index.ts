/* Strict input: no unknown fields, validated values, and limits on size, nesting and time. */

export { isOverdue, withinDeadline } from './deadline.js';
export { MAX_JSON_DEPTH, isJsonObject, parseJson } from './json-body.js';
export { Omittable } from './omittable.decorator.js';
export { Rule } from './rule.decorator.js';
export { applyRules, REQUEST_RULES, type RequestRules, RequestRulesGuard } from './request-rules.guard.js';
export { parseRequestId } from './request-id.js';
export {
  type Caller,
  type ExtraField,
  type RequestChange,
  type ResponseChannel,
  type RequestState,
  stateOf,
} from './request-state.js';
export { StrictBody, StrictHeaders, StrictPath, StrictQuery } from './strict-request.decorators.js';
export { MessageData, messageTooLarge, requireBoundedMessage, StrictMessage } from './strict-message.js';
export { Drainable } from './drainable.js';
