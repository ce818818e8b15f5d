/* Strict input: no unknown fields, validated values, and limits on size, nesting and time. */

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
