/* Without it each create has a commit of its own, and the disk decides how many there are in a second. */

export { Batcher, type BatcherLimits, type WatchedBatcher } from './batcher.js';
export { halving } from './halving.js';
export { Lanes } from './lanes.js';
