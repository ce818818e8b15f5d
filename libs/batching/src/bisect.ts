/**
 * Runs items together. If that fails, it runs each half by itself, and so on, so that one bad item
 * fails alone. Returns an outcome or an error for each item, in order. An error for which
 * `isOfOneItem` is false is the outcome of all items of its run.
 */
export async function bisect<Item, Outcome>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<readonly (Outcome | Error)[]>,
  isOfOneItem: (error: unknown) => boolean,
): Promise<(Outcome | Error)[]> {
  try {
    return [...(await run(items))];
  } catch (error) {
    if (items.length === 1 || !isOfOneItem(error)) return items.map(() => error as Error);
    const middle = items.length >> 1;
    return [
      ...(await bisect(items.slice(0, middle), run, isOfOneItem)),
      ...(await bisect(items.slice(middle), run, isOfOneItem)),
    ];
  }
}
