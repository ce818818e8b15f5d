import { ApiDocsModule } from './api-docs.module.js';

/** The ServiceModule of the API documentation. `API_DOCS` can disable it. */
export const apiDocs = {
  bind: ({ apiDocs }: { readonly apiDocs: boolean }) => (apiDocs ? ApiDocsModule : undefined),
};
