/**
 * Hands items on together; where that fails they are handed on by halves until the one that is refused stands alone, so
 * that it takes no other with it. `isFinal` tells of an error that halves would not change. Gives an outcome or an error
 * for each item, in their order.
 */
export async function halving<Item, Outcome>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<readonly (Outcome | Error)[]>,
  isFinal: (error: unknown) => boolean,
): Promise<(Outcome | Error)[]> {
  try {
    return [...(await run(items))];
  } catch (error) {
    if (items.length === 1 || isFinal(error)) return items.map(() => error as Error);
    const middle = items.length >> 1;
    return [
      ...(await halving(items.slice(0, middle), run, isFinal)),
      ...(await halving(items.slice(middle), run, isFinal)),
    ];
  }
}
