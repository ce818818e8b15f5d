export { openApiText } from './open-api.document.js';
