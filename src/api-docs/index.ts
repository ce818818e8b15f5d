import { ApiDocsModule } from './api-docs.module.js';

/** The module, as the service binds it; a deployment can switch it off. */
export const apiDocs = {
  bind: ({ apiDocs }: { readonly apiDocs: boolean }) => (apiDocs ? ApiDocsModule : undefined),
};
