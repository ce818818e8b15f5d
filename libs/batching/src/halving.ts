/**
 * Runs items together. If that fails, it runs each half alone, and so on, until a refused item stands alone and takes
 * no other with it. `isOfOne` tells whether a single item may have caused an error; any other error is the outcome of
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
