export { Obeys, type Rule } from './obeys.decorator.js';
export { StrictBody, StrictQuery } from './strict-request.decorators.js';
