import { describe, expect, it } from '@jest/globals';
import { TimeLogEvent } from '../../../src/feed/index.js';
import { TimeLog } from '../../../src/time-log/index.js';
import { EventWindow } from './event-window.js';

const START = { position: '0', logId: 'start' };

/** Returns one event for each of these projects, in order. */
const eventsOf = (...projects: string[]) =>
  projects.map((projectId, number) => {
    const log = Object.assign(TimeLog.blank(), { id: `log ${number}`, projectId });
    return new TimeLogEvent(String(number + 1), log);
  });
const takeIds = (window: EventWindow) => {
  const ids: string[] = [];
  for (let waiting = window.next(); waiting; waiting = window.next()) ids.push(waiting.event.log.id);
  return ids;
};

describe('EventWindow', () => {
  it('hands out one event of each project, and the next one after an acknowledgement', () => {
    const window = new EventWindow(START);
    window.add(eventsOf('a', 'a', 'b', 'a'));
    const first = window.next()!;
    expect([first.event.log.id, ...takeIds(window)]).toEqual(['log 0', 'log 2']);
    window.acknowledge(first);
    expect(takeIds(window)).toEqual(['log 1']);
  });

  it('is settled up to the first event that is not acknowledged', () => {
    const window = new EventWindow(START);
    window.add(eventsOf('a', 'b', 'c'));
    const [first, second, third] = [window.next()!, window.next()!, window.next()!];
    window.acknowledge(second);
    expect([window.settled, window.size]).toEqual([START, 3]);
    window.acknowledge(first);
    expect([window.settled, window.size]).toEqual([{ position: '2', logId: 'log 1' }, 1]);
    window.acknowledge(third);
    expect([window.settled, window.size]).toEqual([{ position: '3', logId: 'log 2' }, 0]);
  });

  it('hands out an event that failed after its delay and after all that are ready, while its project waits', () => {
    const window = new EventWindow(START);
    window.add(eventsOf('a', 'a', 'b', 'c'));
    const failed = window.next()!;
    const now = performance.now();
    window.postpone(failed, 60_000);
    expect([window.next(now)!.event.log.id, window.hasFailed]).toEqual(['log 2', true]);
    const later = now + 120_000;
    expect([window.next(later), window.next(later)].map((entry) => entry!.event.log.id)).toEqual([
      'log 3',
      'log 0',
    ]);
    window.acknowledge(failed);
    expect([window.next()!.event.log.id, window.hasFailed]).toEqual(['log 1', false]);
  });

  it('hands out an event of a log when its earlier ones are acknowledged, in any project', () => {
    const window = new EventWindow(START);
    const moved = eventsOf('a', 'b', 'b', 'c');
    // The second and the last event are of the log of the first, in other projects.
    for (const index of [1, 3]) Object.assign(moved[index]!.log, { id: 'log 0' });
    window.add(moved);
    const first = window.next()!;
    expect(takeIds(window)).toEqual([]);
    window.acknowledge(first);
    const second = window.next()!;
    expect([second.event, window.next()]).toEqual([moved[1], undefined]);
    window.acknowledge(second);
    expect([window.next()!.event, window.next()!.event]).toEqual([moved[2], moved[3]]);
  });
});
