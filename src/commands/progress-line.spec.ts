import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { ProgressLine } from './progress-line.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function lineOn(stream: { isTTY?: true }) {
  const written: string[] = [];
  const line = new ProgressLine({ ...stream, write: (text) => written.push(text) > 0 });
  return { line, written };
}

it('a terminal rewrites one line with the latest text, until the end', () => {
  const { line, written } = lineOn({ isTTY: true });
  line.show('1 of 9');
  jest.advanceTimersByTime(1_990);
  expect(written).toEqual([]);
  line.show('2 of 9');
  jest.advanceTimersByTime(10);
  line.show('3 of 9');
  jest.advanceTimersByTime(2_000);
  line.printLine('done');
  line.end();
  jest.advanceTimersByTime(60_000);
  const [clear, ...shown] = ['\r\x1b[K', '    2 s  2 of 9', '    4 s  3 of 9'];
  expect(written).toEqual([...shown.map((text) => clear + text), clear, '    4 s  done\n', clear]);
});

it('another stream gets one line', () => {
  const { line, written } = lineOn({});
  line.show('reading');
  jest.advanceTimersByTime(60_000);
  line.end();
  expect(written).toEqual(['    2 s  reading\n']);
});

it('a short action shows nothing', () => {
  const { line, written } = lineOn({});
  line.show('reading');
  jest.advanceTimersByTime(1_900);
  line.end();
  jest.advanceTimersByTime(60_000);
  expect(written).toEqual([]);
});
