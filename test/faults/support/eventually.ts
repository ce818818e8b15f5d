export { eventually } from '../../../src/time-log/contract/eventually.js';
