import { afterAll, beforeAll, describe, it } from '@jest/globals';
import fc from 'fast-check';
import { Movers, MOVES, MOVES_OF_NOTES } from '../faults/support/moves.js';
import { FeedJourney, type Step } from './feed-journey.js';

const RUNS = 5;

/**
 * Each finds a cause of its own why positions must move, and none of the others makes up for it. The first is taken by
 * the first database of a server, whose numbers another one gives out again.
 */
const JOURNEYS: readonly (readonly [string, readonly Step[]])[] = [
  [
    'is dumped into a server like its own, with a table of the same number, whose clock is behind',
    [
      { act: 'other writers' },
      { lost: 'all', act: 'move', move: 'twin', clock: 'behind', isTableAlike: true },
    ],
  ],
  [
    'is dumped, moved on by a new start of the server, and the dump used beside it by a clock that is behind',
    [
      { act: 'save', move: 'clone', clock: 'behind' },
      { act: 'new start' },
      { act: 'go back', move: 'clone' },
    ],
  ],
  [
    'is recovered to an earlier moment by a machine whose clock is behind',
    [
      { act: 'save', move: 'recovery', clock: 'behind' },
      { act: 'other writers' },
      { act: 'go back', move: 'recovery' },
    ],
  ],
  [
    'is replaced by a copy of the files of before',
    [{ act: 'save', move: 'copy' }, { act: 'other writers' }, { act: 'go back', move: 'copy' }],
  ],
  [
    'is restored without a log from backups, before and after it was dumped into another server',
    [
      { lost: 'all', act: 'move', move: 'backup' },
      { act: 'move', move: 'dump' },
      { lost: 'all', act: 'move', move: 'backup' },
    ],
  ],
  ['gets rows of elsewhere while transactions have older snapshots', [{ act: 'rows come' }]],
];

const lost = fc.constantFrom('nothing', 'newest', 'all');
const clock = fc.constantFrom('right', 'right', 'behind');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ lost, act: fc.constantFrom('other writers', 'new start', 'rows come') }),
  fc
    .record({
      lost,
      act: fc.constantFrom('save', 'go back', 'move', 'move'),
      move: fc.constantFrom(...MOVES),
      clock,
    })
    .map((taken) => ({ ...taken, clock: MOVES_OF_NOTES.includes(taken.move) ? taken.clock : 'right' })),
);

describe('whoever follows the feed gets every log that is there, once, while its database', () => {
  let movers: Movers;
  beforeAll(async () => {
    movers = await Movers.start();
  });
  afterAll(() => movers.remove());

  it.each(JOURNEYS)('%s', (_what, steps) => FeedJourney.take(movers, steps));

  it('goes on any journey', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 10 }), (steps) =>
        FeedJourney.take(movers, steps),
      ),
      { numRuns: RUNS, endOnFailure: true },
    );
  });
});
