export { jwts } from './composition.js';
