export { API_DOCS_TAG } from './api-docs.documentation.js';
export { ApiDocsModule } from './api-docs.module.js';
export { DOCUMENT_FILE } from './api-docs.controller.js';
export { type Contents, openApiText } from './open-api.document.js';
