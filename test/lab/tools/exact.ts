/** An image with its version in full, and no name that moves. */
export const EXACT = /:v?\d+\.\d+(?:\.\d+)?(?:-[\w.-]+)?$/;
