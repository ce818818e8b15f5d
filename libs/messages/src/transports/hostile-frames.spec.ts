import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it } from '@jest/globals';
import { dropHostileParts, faultOf, type FrameSource } from './hostile-frames.js';

type Source = FrameSource & { rest: Buffer };
// The package does not export this module.
const require = createRequire(import.meta.url);
const { Connection } = require(join(dirname(require.resolve('amqplib')), 'lib/connection.js')) as {
  Connection: new (stream: PassThrough) => Source;
};

function withLength(bytes: Buffer): Buffer {
  const whole = Buffer.concat([Buffer.alloc(4), bytes]);
  whole.writeUInt32BE(bytes.length);
  return whole;
}

/** Returns the frame that announces a message of 300 bytes on channel 7, with one header. */
function header(tag: string, value: Buffer): Buffer {
  const fields = Buffer.concat([Buffer.from(`\x01x${tag}`), value]);
  const start = Buffer.from('003c0000000000000000012c2000', 'hex');
  const payload = withLength(Buffer.concat([start, withLength(fields)]));
  return Buffer.concat([Buffer.of(2, 0, 7), payload, Buffer.of(0xce)]);
}

/** Returns nested arrays. */
function nested(depth: number): Buffer {
  let value = withLength(Buffer.alloc(0));
  for (let level = 1; level < depth; level++) value = withLength(Buffer.concat([Buffer.from('A'), value]));
  return value;
}

function connectionWith(frames: readonly Buffer[], maxBytes = 1_000): Source {
  const connection = new Connection(new PassThrough());
  dropHostileParts(connection, maxBytes);
  connection.rest = Buffer.concat(frames);
  return connection;
}

interface Announced {
  readonly channel: number;
  readonly id: number;
  readonly size: number;
  readonly fields: { readonly headers?: object };
}

it.each<[string, Buffer]>([
  ['of a type that amqplib does not know', header('L', Buffer.alloc(8))],
  ['nested 20,000 deep', header('A', nested(20_000))],
  ['that is truncated', header('S', Buffer.of(0, 0))],
])('delivers a message with a header %s without properties, and the next frame', (_what, unreadable) => {
  const connection = connectionWith([unreadable, header('t', Buffer.of(1))]);
  const [first, second] = [connection.recvFrame(), connection.recvFrame()] as [Announced, Announced];
  expect(first).toEqual({ channel: 7, id: 60, size: 300, fields: {} });
  expect(faultOf(first.fields)).toBe('unreadable');
  expect(second).toMatchObject({ channel: 7, id: 60, size: 300, fields: { headers: { x: true } } });
  expect(faultOf(second.fields)).toBeUndefined();
});

it('delivers a message above the maximum without its content, and the next frames', () => {
  const content = (bytes: number) =>
    Buffer.concat([Buffer.of(3, 0, 7), withLength(Buffer.alloc(bytes)), Buffer.of(0xce)]);
  const message = header('t', Buffer.of(1));
  const connection = connectionWith([message, content(200), content(100), message, content(300)], 299);
  const [large, next] = [connection.recvFrame(), connection.recvFrame()] as [Announced, Announced];
  expect(large).toMatchObject({ channel: 7, size: 0, fields: { headers: { x: true } } });
  expect(faultOf(large.fields)).toBe('oversized');
  expect([next.size, connection.recvFrame()]).toEqual([0, false]);
  const whole = connectionWith([message, content(300)], 300);
  expect(whole.recvFrame()).toMatchObject({ size: 300 });
  expect(whole.recvFrame()).toEqual({ channel: 7, content: Buffer.alloc(300) });
});

it('throws if no frame can follow', () => {
  const broken = header('t', Buffer.of(1));
  broken[broken.length - 1] = 0;
  expect(() => connectionWith([broken]).recvFrame()).toThrow('Invalid frame');
  const unknown = header('t', Buffer.of(1));
  unknown[0] = 9;
  expect(() => connectionWith([unknown]).recvFrame()).toThrow('Unknown frame type 9');
});
