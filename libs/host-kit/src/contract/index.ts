/* Without it, authors of adapters would learn the requirements of the module in production. */

export { type ContractCase } from './contract-suite.js';
export { timeLogAttributesContract } from './time-log-attributes.contract.js';
export { timeLogRepositoryContract } from './time-log-repository.contract.js';
