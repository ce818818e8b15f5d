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

/**
 * Extracts from the bytes of a packet only what an error reply needs, without parsing the rest. It
 * takes a token at any depth: one elsewhere in the message is also one that the sender has.
 */
function extractPacket(bytes: Buffer, fault: DomainError): Packet {
  const pattern = fieldAt(bytes, indexBesideData(bytes, '"pattern"'));
  if (pattern === undefined) throw fault;
  const data = { accessToken: fieldAt(bytes, bytes.indexOf('"accessToken"')) };
  stateOf(data).readError = fault;
  return withValidId({ pattern, id: fieldAt(bytes, indexBesideData(bytes, '"id"')), data });
}

/**
 * Returns the index of a name before or after the data. A user of a gateway chooses the data: an id
 * in it could be that of another request, whose sender would get this reply.
 */
function indexBesideData(bytes: Buffer, name: string): number {
  const first = bytes.indexOf(name);
  return first < bytes.indexOf('"data"') ? first : bytes.lastIndexOf(name);
}

/** Returns the value at the index of a name: a string, a number, or null if it is too long or another. */
function fieldAt(bytes: Buffer, index: number): unknown {
  if (index < 0) return undefined;
  const field = bytes.toString('utf8', index, index + MAX_FIELD_BYTES);
  const [, json] = /^"\w+"\s*:\s*("(?:[^"\\]|\\.)*"|[-+.\dEe]+)/.exec(field) ?? [];
  try {
    return JSON.parse(json ?? 'null');
  } catch {
    return null;
  }
}

/** Returns the packet if its id is valid. The reply repeats the id, so its size is limited. */
function withValidId(packet: object): Packet {
  const { id } = packet as { readonly id?: unknown };
  if (id === undefined || typeof id === 'number') return packet;
  if (typeof id === 'string' && id.length <= MAX_ID_LENGTH) return packet;
  throw invalid(`id must be a number or a string of at most ${MAX_ID_LENGTH} characters`);
}
