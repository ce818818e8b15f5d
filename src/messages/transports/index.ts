export { connectMessages, type ConnectOptions } from './connect-messages.js';
