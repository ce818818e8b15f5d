/* Without it unknown fields pass, numbers come as texts, and deep or endless input reaches the use cases. */

export { changeOf, type NotedChange, noteChange } from './change-note.js';
export { isOverdue, limitWaiting, withinDeadline } from './deadline.js';
export { allowMember, type MemberVerdict, memberVerdictOf } from './further-member.js';
export { DEPTH_LIMIT, isJsonObject, limitBody, parseJson } from './json-body.js';
export { Omittable } from './omittable.decorator.js';
export { Obeys } from './obeys.decorator.js';
export { REQUEST_BOUNDS, type RequestBounds, RequestBoundsGuard } from './request-bounds.guard.js';
export { wellFormedId } from './request-id.js';
export { StrictBody, StrictHeaders, StrictPath, StrictQuery } from './strict-request.decorators.js';
export {
  MessageData,
  MessageMemberVerdict,
  messageTooLarge,
  requireBoundedMessage,
  StrictMessage,
} from './strict-message.js';
export { Drainable } from './drainable.js';
export type { Outlet } from './outlet.js';
