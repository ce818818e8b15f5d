export { limitWaiting, withinDeadline } from './deadline.js';
