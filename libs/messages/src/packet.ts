import { DomainError } from '../../errors/src/index.js';
import { isJsonObject, messageTooLarge, parseJson, stateOf } from '../../strict-request/src/index.js';

/** The maximum number of bytes of a message in addition to its data: pattern, id and trace. */
const ENVELOPE_BYTES = 4_096;
/** The maximum number of bytes of a message that is answered at all. */
export const MAX_MESSAGE_BYTES = 1_048_576 + ENVELOPE_BYTES;
/** The maximum bytes of a field of a refused message. A longer token counts as an invalid one. */
const MAX_FIELD_BYTES = 16_384;
/** The maximum length of an id, in UTF-16 code units. */
const MAX_ID_LENGTH = 255;

/** A message as the clients of Nest send it. */
export interface Packet {
  /** Missing if the sender expects no reply. */
  readonly id?: string | number;
  readonly pattern?: unknown;
  readonly data?: unknown;
}

/**
 * Parses a packet. A sender must present a valid token before an error in its message is reported.
 * So if the bytes are not JSON in UTF-8, or are too many, only the fields of a reply and the token
 * are extracted, and MessageGate reports the error after authentication. This also limits the
 * memory that a sender without a token can use: parsed JSON takes up to 20 times its size.
 *
 * Throws DomainError PAYLOAD_TOO_LARGE or VALIDATION_ERROR if it has no pattern, an invalid id,
 * or is not an object.
 */
export function readPacket(bytes: Buffer, bodyLimit: number): Packet {
  if (bytes.length > bodyLimit + ENVELOPE_BYTES) return extractPacket(bytes, messageTooLarge(bodyLimit));
  let packet: unknown;
  try {
    packet = parseJson(bytes, 'the message');
  } catch (error) {
    return extractPacket(bytes, error as DomainError);
  }
  if (!isJsonObject(packet)) throw invalid('the message must be a JSON object');
  return withValidId(packet);
}

function invalid(message: string): DomainError {
  return new DomainError('VALIDATION_ERROR', message);
}

/** Extracts from the bytes of a packet only what an error reply needs. */
function extractPacket(bytes: Buffer, fault: DomainError): Packet {
  const { pattern, id, accessToken } = findFields(bytes);
  if (!pattern) throw fault;
  const data = { ...(accessToken && { accessToken: parseField(accessToken) }) };
  stateOf(data).readError = fault;
  return withValidId({ pattern: parseField(pattern), ...(id && { id: parseField(id) }), data });
}

/** Returns the packet if its id is valid. The reply repeats the id, so its size is limited. */
function withValidId(packet: object): Packet {
  const { id } = packet as { readonly id?: unknown };
  if (id === undefined || typeof id === 'number') return packet;
  if (typeof id === 'string' && id.length <= MAX_ID_LENGTH) return packet;
  throw invalid(`id must be a number or a string of at most ${MAX_ID_LENGTH} characters`);
}

/** Returns the value of a field, or null if it is too large or not JSON. */
function parseField(bytes: Buffer): unknown {
  try {
    return bytes.length > MAX_FIELD_BYTES ? null : JSON.parse(bytes.toString());
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

/** The bytes of the extracted fields of a packet. */
interface FieldBytes {
  pattern?: Buffer | undefined;
  id?: Buffer | undefined;
  accessToken?: Buffer | undefined;
}

/**
 * Finds fields of a packet, and the token in its data, without parsing any. The last of two fields
 * with the same name counts, as in JSON.parse. In bytes that are not JSON it finds what looks like
 * these fields.
 */
function findFields(json: Buffer): FieldBytes {
  const found: FieldBytes = {};
  // By depth: the name of the current field, and the start of its value or 0.
  const [names, starts] = [
    ['', '', ''],
    [0, 0, 0],
  ];
  let [depth, stringStart, stringEnd] = [0, 0, 0];
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) {
      stringStart = at + 1;
      stringEnd = endOfString(json, at);
      at = stringEnd;
    } else if (byte === COLON) {
      if (starts[depth] !== 0) continue;
      starts[depth] = at + 1;
      names[depth] = json.toString('latin1', stringStart, Math.min(stringEnd, stringStart + 16));
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

/** Returns the index of the quote that ends a string. */
function endOfString(json: Buffer, quote: number): number {
  let at = quote + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}
