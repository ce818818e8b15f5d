export { connectMessages } from './connect-messages.js';
