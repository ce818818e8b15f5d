/** A part of what a broker sends. The head of a message has its `size`; one or more parts with its `content` follow. */
interface Frame {
  readonly size?: number;
  readonly content?: Buffer;
  readonly fields?: object;
}

/** A channel of amqplib, as its connection sees it. */
export interface FrameTaker {
  accept(frame: Frame): void;
}

/** The properties of messages whose content was let go. */
const tooLong = new WeakSet<object>();

/**
 * Lets go the content of messages that are longer than so many bytes. amqplib would collect it whatever its length, and
 * then copy it: one message of 42 MB took 300 MB. The channel brings such a message without content.
 */
export function letGoLongContent(channel: FrameTaker, most: number): void {
  const accept = channel.accept.bind(channel);
  let left = 0;
  channel.accept = (frame) => {
    if (left > 0 && frame.content) {
      left -= frame.content.length;
    } else if (frame.size !== undefined && frame.size > most) {
      left = frame.size;
      tooLong.add(frame.fields!);
      accept({ ...frame, size: 0 });
    } else {
      accept(frame);
    }
  };
}

/** Whether the content of a message with these properties was let go. */
export function wasLong(properties: object): boolean {
  return tooLong.has(properties);
}
