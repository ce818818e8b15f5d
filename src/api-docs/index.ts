export { API_DOCS_PATHS } from './api-docs.controller.js';
export { ApiDocsModule } from './api-docs.module.js';
export { openApiText } from './open-api.document.js';
