export { jwts } from './jwts.js';
