/* Without it whoever writes an adapter finds out in production what the module asks of it. */

export { type ContractCase } from './contract-suite.js';
export { timeLogAttributesContract } from './time-log-attributes.contract.js';
export { timeLogRepositoryContract } from './time-log-repository.contract.js';
