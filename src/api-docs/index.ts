import type { DescribeAttributes } from './api-docs.controller.js';
import { ApiDocsModule } from './api-docs.module.js';

interface Settings {
  readonly apiDocs: boolean;
  readonly attributes: { readonly describe: DescribeAttributes } | undefined;
}

/** The ServiceModule of the API documentation. `API_DOCS` can disable it. */
export const apiDocs = {
  bind: ({ apiDocs, attributes }: Settings) =>
    apiDocs ? ApiDocsModule.forRoot(attributes?.describe) : undefined,
};
