/* Strict input: no unknown fields, validated values, and limits on size, nesting and time. */

export { type CorrectionRules, Omittable, Rule, validateBody } from './validate.js';
export { isJsonObject, MAX_JSON_DEPTH, MergePatch, StrictBody, StrictHeaders } from './strict-body.js';
export { StrictPath, StrictQuery } from './strict-query.js';
export { type BatchShape, StrictBatch } from './strict-batch.js';
export { MessageState, messageTooLarge, requireBoundedMessage, StrictMessage } from './strict-message.js';
