/** The most letters of a name that may be short for something else, such as `POST` beside `PORT`. */
const SHORT = 7;

/** A line for each name that is one edit away from a known one: its author meant that. */
export function misspelt(names: readonly string[], known: readonly string[]): string[] {
  return names
    .filter((name) => !known.includes(name))
    .flatMap((name) => {
      const meant = known.find((right) => right.length > SHORT && isOneEdit(name, right));
      return meant === undefined ? [] : [`${name} is no setting and has no effect: ${meant} is one`];
    });
}

/** Whether one letter was left out, added, or replaced, or two neighbours changed places. */
function isOneEdit(name: string, right: string): boolean {
  const most = Math.min(name.length, right.length);
  let start = 0;
  while (start < most && name[start] === right[start]) start++;
  let end = 0;
  while (end < most - start && name.at(-1 - end) === right.at(-1 - end)) end++;
  const [is, was] = [name.slice(start, name.length - end), right.slice(start, right.length - end)];
  return Math.max(is.length, was.length) === 1 || (is.length === 2 && is === was.charAt(1) + was.charAt(0));
}
