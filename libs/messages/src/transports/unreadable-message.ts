/** A connection of amqplib. */
export interface FrameSource {
  /** The bytes that were received and are not decoded yet. */
  readonly rest: Buffer;
  /** Returns the next frame. Throws if it cannot be decoded. */
  recvFrame(): unknown;
}

/** The type of the frame that has the properties of a message and the size of its content. */
const HEADER = 2;

/** The properties of messages which amqplib cannot decode. */
const unreadable = new WeakSet<object>();

/**
 * Makes a connection return a message without properties if amqplib cannot decode them: a field of an unknown type, or
 * tables nested too deeply. amqplib would close the connection, and the broker would deliver the message again and
 * again. No option of amqplib changes that.
 */
export function bringUnreadable(connection: FrameSource): void {
  const receive = connection.recvFrame.bind(connection);
  // It calls itself after each read, so the frame that fails is the first of `rest` here.
  connection.recvFrame = () => {
    const { rest } = connection;
    try {
      return receive();
    } catch (error) {
      // Only a whole frame has been taken.
      if (connection.rest === rest || rest[0] !== HEADER) throw error;
      const fields = {};
      unreadable.add(fields);
      const [channel, id, size] = [rest.readUInt16BE(1), rest.readUInt16BE(7), rest.readBigUInt64BE(11)];
      return { channel, id, size: Number(size), fields };
    }
  };
}

/** Whether these are the properties of a message which amqplib could not decode. */
export function isUnreadable(properties: object): boolean {
  return unreadable.has(properties);
}
