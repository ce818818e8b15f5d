export { Measured, type Meter } from './measured.js';
