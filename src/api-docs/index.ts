import { API_DOCS_TAG } from './api-docs.documentation.js';
import { ApiDocsModule } from './api-docs.module.js';

export { DOCUMENT_FILE } from './api-docs.controller.js';
export { type Contents, openApiText } from './open-api.document.js';

/** The module, as the service binds it; a deployment can switch it off. */
export const apiDocs = {
  bind: ({ apiDocs }: { readonly apiDocs: boolean }) => (apiDocs ? ApiDocsModule : undefined),
  tags: [API_DOCS_TAG],
};
