/** A shorter name matches only with two letters swapped: `POST` may well mean something other than `PORT`. */
const MIN_LENGTH = 8;

/** Returns a line for each unknown name that differs from a known one by a single edit. */
export function suggestSettings(names: readonly string[], known: readonly string[]): string[] {
  return names
    .filter((name) => !known.includes(name))
    .flatMap((name) => {
      const match = known.find((setting) => isOneEdit(name, setting, setting.length >= MIN_LENGTH));
      return match === undefined
        ? []
        : [`${name} is not a setting and has no effect: did you mean ${match}?`];
    });
}

/** Returns whether two letters were swapped or, in a long name, one was omitted, added or replaced. */
function isOneEdit(name: string, setting: string, isLong: boolean): boolean {
  const shorter = Math.min(name.length, setting.length);
  let start = 0;
  while (start < shorter && name[start] === setting[start]) start++;
  let end = 0;
  while (end < shorter - start && name.at(-1 - end) === setting.at(-1 - end)) end++;
  const actual = name.slice(start, name.length - end);
  const expected = setting.slice(start, setting.length - end);
  if (actual.length === 2) return actual === expected.charAt(1) + expected.charAt(0);
  return isLong && Math.max(actual.length, expected.length) === 1;
}
