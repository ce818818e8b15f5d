import { it } from '@jest/globals';
import { isFull } from './extent.js';

/** A test of the full run alone. */
export const itInFull = isFull ? it : () => undefined;
