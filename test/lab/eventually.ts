export { eventually, WAIT_LIMIT } from '../support/eventually.js';
