import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ProgressLine } from './progress-line.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function streamOf(more: { isTTY?: true; columns?: number } = {}) {
  const written: string[] = [];
  return { written, write: (text: string) => written.push(text) > 0, ...more };
}

describe('the line of progress at a terminal', () => {
  it('is rewritten in place with the newest text, cut to the width, and is gone at the end', () => {
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

  it('makes room for a line that stays', () => {
    const stream = streamOf({ isTTY: true });
    const line = new ProgressLine(stream);
    line.show('under way');
    jest.advanceTimersByTime(2_000);
    line.note('something is done');
    expect(stream.written.slice(1)).toEqual(['\r\x1b[K', '    2 s  something is done\n']);
  });
});

describe('the line of progress elsewhere', () => {
  it('is a line every 5 seconds, with the time that goes by', () => {
    const stream = streamOf();
    const line = new ProgressLine(stream);
    line.show('reading');
    jest.advanceTimersByTime(10_400);
    line.end();
    expect(stream.written).toEqual(['    5 s  reading\n', '   10 s  reading\n']);
  });
});

it('says nothing of what is over soon', () => {
  for (const stream of [streamOf(), streamOf({ isTTY: true })]) {
    const line = new ProgressLine(stream);
    line.show('reading');
    jest.advanceTimersByTime(1_900);
    line.end();
    jest.advanceTimersByTime(60_000);
    expect(stream.written).toEqual([]);
  }
});
