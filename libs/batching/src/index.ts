export { Batcher, type BatcherLimits } from './batcher.js';
export { halving } from './halving.js';
