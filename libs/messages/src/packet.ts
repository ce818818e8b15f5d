import { DomainError } from '../../errors/src/index.js';
import { isJsonObject, messageTooLarge, parseJson, stateOf } from '../../strict-request/src/index.js';

/** The most bytes of a message beside its data: its pattern, its id, the trace that it belongs to. */
const AROUND = 4_096;
/** The most bytes of a message that is answered at all. */
export const LARGEST_MESSAGE = 1_048_576 + AROUND;
/** The most bytes of a member that is read by itself: tokens are shorter. */
const LARGEST_MEMBER = 16_384;
const LONGEST_ID = 255;

/** What Nest's clients send: the data of a message, and what is around it. */
export interface Packet {
  /** Where it is missing nobody waits for an answer. */
  readonly id?: string | number;
  readonly pattern?: unknown;
  readonly data?: unknown;
}

/**
 * The packet that bytes say as JSON. Whoever sends it must show a token before its faults are told: where bytes are no
 * JSON in UTF-8, or where the message is larger than it may be, only the token is read, and MessageGate refuses it
 * after that. So nobody makes us read much: JSON takes up to 20 times its bytes.
 *
 * Throws DomainError PAYLOAD_TOO_LARGE or VALIDATION_ERROR where there is nothing to go on with.
 */
export function readPacket(bytes: Buffer, bodyLimit: number): Packet {
  if (bytes.length > bodyLimit + AROUND) return unread(bytes, messageTooLarge(bodyLimit));
  let packet: unknown;
  try {
    packet = parseJson(bytes, 'the message');
  } catch (error) {
    return unread(bytes, error as DomainError);
  }
  if (!isJsonObject(packet)) throw invalid('the message must be a JSON object');
  return withAnId(packet);
}

function invalid(message: string): DomainError {
  return new DomainError('VALIDATION_ERROR', message);
}

/** A packet of which only that is read which it takes to answer with an error. */
function unread(bytes: Buffer, fault: DomainError): Packet {
  const { pattern, id, accessToken } = skim(bytes);
  if (!pattern) throw fault;
  const data = { ...(accessToken && { accessToken: valueOf(accessToken) }) };
  stateOf(data).readError = fault;
  return withAnId({ pattern: valueOf(pattern), ...(id && { id: valueOf(id) }), data });
}

/** The id goes back with the answer, so it must be of a form that any sender can have. */
function withAnId(packet: object): Packet {
  const { id } = packet as { readonly id?: unknown };
  if (id === undefined || typeof id === 'number') return packet;
  if (typeof id === 'string' && id.length <= LONGEST_ID) return packet;
  throw invalid(`id must be a number or a string of at most ${LONGEST_ID} characters`);
}

/** What the bytes of a member say; null where they are too many or no JSON. */
function valueOf(bytes: Buffer): unknown {
  try {
    return bytes.length > LARGEST_MEMBER ? null : JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The members of a packet that are read by themselves, each as its bytes. */
interface Skimmed {
  pattern?: Buffer | undefined;
  id?: Buffer | undefined;
  accessToken?: Buffer | undefined;
}

/**
 * Finds members of a packet, and the token in its data, without reading any. Of a member that is given twice the last
 * counts, as in JSON.parse. Of what is no JSON it finds what looks like them.
 */
function skim(json: Buffer): Skimmed {
  const found: Skimmed = {};
  /** By depth: the name of the member, and where its value begins; 0 before there is one. */
  const [names, starts] = [
    ['', '', ''],
    [0, 0, 0],
  ];
  let [depth, text, textEnd] = [0, 0, 0];
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) {
      text = at + 1;
      textEnd = endOfText(json, at);
      at = textEnd;
    } else if (byte === COLON) {
      if (starts[depth] !== 0) continue;
      starts[depth] = at + 1;
      names[depth] = json.toString('latin1', text, Math.min(textEnd, text + 16));
      if (depth === 1 && names[1] === 'data') found.accessToken = undefined;
    } else if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      if (starts[depth]! > 0) {
        const value = json.subarray(starts[depth], at);
        if (depth === 1 && (names[1] === 'pattern' || names[1] === 'id')) found[names[1]] = value;
        if (depth === 2 && names[1] === 'data' && names[2] === 'accessToken') found.accessToken = value;
        starts[depth] = 0;
      }
      if (byte !== COMMA) depth--;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth++;
    }
  }
  return found;
}

/** Where the text ends that begins at a quote. */
function endOfText(json: Buffer, quote: number): number {
  let at = quote + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}
