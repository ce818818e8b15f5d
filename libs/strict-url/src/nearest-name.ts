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

/** Returns a name without its case and separators, for comparisons. */
export function normalizedName(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

/** Returns the number of letters that were omitted, added, replaced, or swapped with the next one. */
export function editDistance(a: string, b: string): number {
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
