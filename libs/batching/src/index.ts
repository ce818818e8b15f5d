/* Without it each create has a commit of its own, and the disk decides how many there are in a second. */

export { Batcher, type BatcherLimits, type WatchedBatcher } from './batcher.js';
export { FairQueue } from './fair-queue.js';
export { halving } from './halving.js';
