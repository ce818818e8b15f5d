export { eventually, WAIT_LIMIT } from '../../src/time-log/contract/eventually.js';
