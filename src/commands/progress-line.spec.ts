import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ProgressLine } from './progress-line.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function streamOf(more: { isTTY?: true; columns?: number } = {}) {
  const written: string[] = [];
  return { written, write: (text: string) => written.push(text) > 0, ...more };
}

describe('ProgressLine on a terminal', () => {
  it('rewrites one line with the latest text, truncated to the width, and removes it at the end', () => {
    const stream = streamOf({ isTTY: true, columns: 20 });
    const line = new ProgressLine(stream);
    line.show('1 of 9');
    jest.advanceTimersByTime(1_990);
    expect(stream.written).toEqual([]);
    line.show('2 of 9');
    jest.advanceTimersByTime(10);
    expect(stream.written).toEqual(['\r\x1b[K    2 s  2 of 9']);
    line.show('3 of 9, and a long tail');
    jest.advanceTimersByTime(200);
    expect(stream.written.slice(1)).toEqual(['\r\x1b[K    2 s  3 of 9, an']);
    line.end();
    jest.advanceTimersByTime(60_000);
    expect(stream.written.slice(2)).toEqual(['\r\x1b[K']);
  });

  it('prints a line that is not rewritten', () => {
    const stream = streamOf({ isTTY: true });
    const line = new ProgressLine(stream);
    line.show('in progress');
    jest.advanceTimersByTime(2_000);
    line.printLine('something is done');
    expect(stream.written.slice(1)).toEqual(['\r\x1b[K', '    2 s  something is done\n']);
  });
});

describe('ProgressLine on another stream', () => {
  it('writes a line with the elapsed time every 5 seconds', () => {
    const stream = streamOf();
    const line = new ProgressLine(stream);
    line.show('reading');
    jest.advanceTimersByTime(10_400);
    line.end();
    expect(stream.written).toEqual(['    5 s  reading\n', '   10 s  reading\n']);
  });
});

it('writes nothing about a short action', () => {
  for (const stream of [streamOf(), streamOf({ isTTY: true })]) {
    const line = new ProgressLine(stream);
    line.show('reading');
    jest.advanceTimersByTime(1_900);
    line.end();
    jest.advanceTimersByTime(60_000);
    expect(stream.written).toEqual([]);
  }
});
