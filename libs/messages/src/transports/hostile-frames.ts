/** A frame from the broker: the header of a message, with its `size`, or a part of its content. */
interface Frame {
  readonly size?: number;
  readonly content?: Buffer;
  readonly fields?: object;
}

/** A connection of amqplib. */
export interface FrameSource {
  /** The bytes that were received and are not decoded yet. */
  readonly rest: Buffer;
  /** Returns the next frame, or false if more bytes are needed. Throws if it cannot be decoded. */
  recvFrame(): Frame | false;
}

/** The type of the frame with the properties of a message and the size of its content. */
const HEADER_FRAME = 2;

/** Why messages with these properties were delivered without a part of them. */
const faults = new WeakMap<object, 'unreadable' | 'oversized'>();

/**
 * Makes a connection deliver messages without the parts that amqplib cannot bear. No option of
 * amqplib does so.
 * - Properties that it cannot decode: a field of an unknown type, or tables nested too deeply. It
 *   would close the connection, and the broker would deliver the message again and again.
 * - Content above a size. It collects and copies content of any size: one message of 42 MB took
 *   300 MB of memory.
 */
export function dropHostileParts(connection: FrameSource, maxBytes: number): void {
  const receive = connection.recvFrame.bind(connection);
  let bytesToDrop = 0;
  // `receive` calls it after each read, so it must leave a frame that it has returned as it is.
  connection.recvFrame = () => {
    for (;;) {
      const frame = receiveReadable(connection, receive);
      if (!frame) return frame;
      if (frame.content && bytesToDrop > 0) {
        bytesToDrop -= frame.content.length;
        continue;
      }
      if (frame.size === undefined || frame.size <= maxBytes) return frame;
      bytesToDrop = frame.size;
      faults.set(frame.fields!, faultOf(frame.fields!) ?? 'oversized');
      return { ...frame, size: 0 };
    }
  };
}

/** Returns the next frame, without the properties of a message that cannot be decoded. */
function receiveReadable(connection: FrameSource, receive: FrameSource['recvFrame']): Frame | false {
  const { rest } = connection;
  try {
    return receive();
  } catch (error) {
    // `rest` changes only when a whole frame was consumed, which is the first of `rest`.
    if (connection.rest === rest || rest[0] !== HEADER_FRAME) throw error;
    const fields = {};
    faults.set(fields, 'unreadable');
    const [channel, id, size] = [rest.readUInt16BE(1), rest.readUInt16BE(7), rest.readBigUInt64BE(11)];
    return { channel, id, size: Number(size), fields } as Frame;
  }
}

/** Returns why a message with these properties was delivered without a part; undefined if it is whole. */
export function faultOf(properties: object): 'unreadable' | 'oversized' | undefined {
  return faults.get(properties);
}
