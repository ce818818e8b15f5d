/**
 * Hands items on together; where that fails they are handed on by halves until the one that is refused stands alone, so
 * that it takes no other with it. `isOfOne` tells of an error that a single item may have brought about: any other is that of
 * all. Gives an outcome or an error for each item, in their order.
 */
export async function halving<Item, Outcome>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<readonly (Outcome | Error)[]>,
  isOfOne: (error: unknown) => boolean,
): Promise<(Outcome | Error)[]> {
  try {
    return [...(await run(items))];
  } catch (error) {
    if (items.length === 1 || !isOfOne(error)) return items.map(() => error as Error);
    const middle = items.length >> 1;
    return [
      ...(await halving(items.slice(0, middle), run, isOfOne)),
      ...(await halving(items.slice(middle), run, isOfOne)),
    ];
  }
}
