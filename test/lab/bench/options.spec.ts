import { describe, expect, it } from '@jest/globals';
import { parseOptions, UsageError } from './options.js';

describe('the options of the bench', () => {
  it('reads sizes in any order, each once', () => {
    expect(parseOptions(['--sizes', '1m,500,10K,1000k'])?.sizes).toEqual([500, 10_000, 1_000_000]);
  });

  it('finds loads by the beginning of their names, and by a whole name that load alone', () => {
    expect(parseOptions(['--only', 'create,list-p'])?.loads).toEqual([
      'list-project',
      'list-period',
      'list-project-period-middle',
      'create',
    ]);
    expect(parseOptions(['--only', 'list-project'])?.loads).toEqual(['list-project']);
  });

  it('measures all programs, or those that are named', () => {
    expect(parseOptions([])?.programs).toEqual(['service', 'idiomatic', 'careful', 'bare']);
    expect(parseOptions(['--programs', 'bare,service'])?.programs).toEqual(['service', 'bare']);
  });

  it.each([
    [['--programs', '']],
    [['--programs', 'service,none']],
    [['--sizes', '0']],
    [['--sizes', '10g']],
    [['--sizes', '']],
    [['--spread', 'even']],
    [['--spread', 'ages', '--sizes', '10m']],
    [['--only', 'delete']],
    [['--rounds', '0']],
    [['--seconds', '1.5']],
    [['--fast']],
    [['10k']],
  ])('refuses %j', (args) => {
    expect(() => parseOptions(args)).toThrow(UsageError);
  });
});
