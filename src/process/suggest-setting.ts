/** A shorter name matches only with two letters swapped: `POST` may well mean something other than `PORT`. */
const MIN_LENGTH = 8;

/** Returns a line for each unknown name that differs from a known one by a single edit. */
export function suggestSettings(names: readonly string[], known: readonly string[]): string[] {
  return names
    .filter((name) => !known.includes(name))
    .flatMap((name) => {
      const match = known.find(
        (setting) =>
          editDistance(name, setting) === 1 && (setting.length >= MIN_LENGTH || isReordered(name, setting)),
      );
      return match === undefined
        ? []
        : [`${name} is not a setting and has no effect: did you mean ${match}?`];
    });
}

/** Returns the known name that is nearest to a name, if it differs by at most a third of its letters. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .map((candidate) => ({
      candidate,
      distance: editDistance(normalizedName(name), normalizedName(candidate)),
    }))
    .filter(({ candidate, distance }) => distance <= candidate.length / 3)
    .sort((a, b) => a.distance - b.distance);
  return nearest?.candidate;
}

/** Returns a name in lower case without `_` and `-`, for comparisons. */
export function normalizedName(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

function isReordered(name: string, setting: string): boolean {
  const [letters, expected] = [name, setting].map((text) => Array.from(text).sort().join(''));
  return letters === expected;
}

/** Returns the number of letters that were omitted, added, replaced, or swapped with the next one. */
function editDistance(a: string, b: string): number {
  const distances = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row++) {
    const previous = distances[row - 1]!;
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isEqual = a[row - 1] === b[column - 1];
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(
        Math.min(
          previous[column]! + 1,
          current[column - 1]! + 1,
          previous[column - 1]! + (isEqual ? 0 : 1),
          isSwap ? distances[row - 2]![column - 2]! + 1 : Infinity,
        ),
      );
    }
    distances.push(current);
  }
  return distances.at(-1)!.at(-1)!;
}
