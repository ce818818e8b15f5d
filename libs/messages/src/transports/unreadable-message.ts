/** A connection of amqplib. */
export interface FrameSource {
  /** The bytes that were received and are not decoded yet. */
  readonly rest: Buffer;
  /** Returns the next frame. Throws if it cannot be decoded. */
  recvFrame(): unknown;
}

/** The type of the frame with the properties of a message and the size of its content. */
const HEADER_FRAME = 2;

/** The properties of messages that amqplib cannot decode. */
const unreadable = new WeakSet<object>();

/**
 * Makes a connection deliver a message without properties if amqplib cannot decode them: a field of
 * an unknown type, or tables nested too deeply. amqplib would close the connection, and the broker
 * would deliver the message again and again. No option of amqplib changes that.
 */
export function deliverUnreadable(connection: FrameSource): void {
  const receive = connection.recvFrame.bind(connection);
  // recvFrame calls itself after each read, so the frame that fails is the first of `rest`.
  connection.recvFrame = () => {
    const { rest } = connection;
    try {
      return receive();
    } catch (error) {
      // `rest` changes only when a whole frame was consumed.
      if (connection.rest === rest || rest[0] !== HEADER_FRAME) throw error;
      const fields = {};
      unreadable.add(fields);
      const [channel, id, size] = [rest.readUInt16BE(1), rest.readUInt16BE(7), rest.readBigUInt64BE(11)];
      return { channel, id, size: Number(size), fields };
    }
  };
}

/** Returns whether amqplib could not decode these properties of a message. */
export function isUnreadable(properties: object): boolean {
  return unreadable.has(properties);
}
