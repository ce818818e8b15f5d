import type { INestApplication } from '@nestjs/common';
import { API_DOCS_TAG } from './api-docs.documentation.js';
import { ApiDocsModule } from './api-docs.module.js';
import type { Contents } from './open-api.document.js';

export { DOCUMENT_FILE } from './api-docs.controller.js';
export type { Contents } from './open-api.document.js';

/** The OpenAPI document of an app. What makes it is loaded where it is asked for: no start makes one. */
export const openApiText = async (app: INestApplication, contents: Contents): Promise<string> =>
  (await import('./open-api.document.js')).openApiText(app, contents);

/** The module, as the service binds it; a deployment can switch it off. */
export const apiDocs = {
  bind: ({ apiDocs }: { readonly apiDocs: boolean }) => (apiDocs ? ApiDocsModule : undefined),
  tags: [API_DOCS_TAG],
};
