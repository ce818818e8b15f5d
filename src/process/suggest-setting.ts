/** The shortest name that is suggested: `POST` may well mean something other than `PORT`. */
const MIN_LENGTH = 8;

/** Returns a line for each unknown name that differs from a known one by a single edit. */
export function suggestSettings(names: readonly string[], known: readonly string[]): string[] {
  return names
    .filter((name) => !known.includes(name))
    .flatMap((name) => {
      const match = known.find((setting) => setting.length >= MIN_LENGTH && isOneEdit(name, setting));
      return match === undefined
        ? []
        : [`${name} is not a setting and has no effect: did you mean ${match}?`];
    });
}

/** Returns whether a letter was omitted, added or replaced, or two were swapped. */
function isOneEdit(name: string, setting: string): boolean {
  const shorter = Math.min(name.length, setting.length);
  let start = 0;
  while (start < shorter && name[start] === setting[start]) start++;
  let end = 0;
  while (end < shorter - start && name.at(-1 - end) === setting.at(-1 - end)) end++;
  const actual = name.slice(start, name.length - end);
  const expected = setting.slice(start, setting.length - end);
  if (Math.max(actual.length, expected.length) === 1) return true;
  return actual.length === 2 && actual === expected.charAt(1) + expected.charAt(0);
}
