/* Strict input: no unknown fields, validated values, and limits on size, nesting and time. */

export {
  ADDED_MEMBER,
  type AddedMember,
  headerValues,
  applyRules,
  type Caller,
  parseRequestId,
  REQUEST_RULES,
  type RequestChange,
  type RequestRules,
  type RequestState,
  rulesOf,
  type Served,
  STATE,
  type Stateful,
  stateOf,
  withinDeadline,
} from './request-state.js';
export { MAX_JSON_DEPTH, isJsonObject } from './json-body.js';
export { type CorrectionRules, Omittable, Rule, validateBody } from './validate.js';
export {
  MergePatch,
  StrictBody,
  StrictHeaders,
  StrictPath,
  StrictQuery,
} from './strict-request.decorators.js';
export { type BatchShape, StrictBatch } from './strict-batch.js';
export { MessageState, messageTooLarge, requireBoundedMessage, StrictMessage } from './strict-message.js';
export { Drainable } from './drainable.js';
