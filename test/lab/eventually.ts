export { eventually, WAIT_LIMIT } from '../../libs/host-kit/src/contract/eventually.js';
