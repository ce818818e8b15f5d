/** A frame from the broker: the header of a message, with its `size`, or a part of its content. */
interface Frame {
  readonly size?: number;
  readonly content?: Buffer;
  readonly fields?: object;
}

/** A channel of amqplib, as its connection uses it. */
export interface FrameReceiver {
  accept(frame: Frame): void;
}

/** The properties of messages whose content was dropped. */
const oversized = new WeakSet<object>();

/**
 * Makes a channel deliver messages above a size without their content. amqplib collects and copies
 * content of any size: one message of 42 MB took 300 MB of memory.
 */
export function dropOversizedContent(channel: FrameReceiver, maxBytes: number): void {
  const accept = channel.accept.bind(channel);
  let remaining = 0;
  channel.accept = (frame) => {
    if (remaining > 0 && frame.content) {
      remaining -= frame.content.length;
    } else if (frame.size !== undefined && frame.size > maxBytes) {
      remaining = frame.size;
      oversized.add(frame.fields!);
      accept({ ...frame, size: 0 });
    } else {
      accept(frame);
    }
  };
}

/** Returns whether the content of a message with these properties was dropped. */
export function isOversized(properties: object): boolean {
  return oversized.has(properties);
}
