/* Without it modules would have to know Prometheus in order to be measured. */

export { Measured, type Meter } from './measured.js';
