export { outletOf } from './answer-outlet.js';
export { brokerName } from './broker-name.js';
export { MessageErrorFilter } from './message-error.filter.js';
export { MessageGate, MessageGuarded } from './message-gate.js';
export {
  type AnsweredMessage,
  type MessageTransport,
  MessagesUnderWay,
  ON_MESSAGE,
  type OnMessage,
} from './messages-under-way.js';
export { LARGEST_MESSAGE, type Packet, readPacket } from './packet.js';
export { Places } from './places.js';
export { FrameReader, frameOf } from './frame-reader.js';
export { Claim, type Occupant, Room, type RoomLimits } from './room.js';
export { Turns } from './turns.js';
export { headerOf, patternOf } from './rpc-message.js';
