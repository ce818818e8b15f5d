import { indexCheck, updateAttributeIndexes } from './attribute-indexes.js';
import { parseAttribute } from './attribute-filters.js';
import { attributeProviders } from './attribute-providers.js';
import { type AttributesDefinition, readSchemaFile } from './schema-file.js';
import { describeAttributes } from './service-document.js';

/** The attributes of the service, which `ATTRIBUTES_SCHEMA` describes. */
export const fileAttributes = {
  read: readSchemaFile,
  providers: (definition: AttributesDefinition) => [
    ...attributeProviders({ useFactory: () => definition }),
    indexCheck('run npm run migrate'),
  ],
  parse: parseAttribute,
  updateIndexes: updateAttributeIndexes,
  describe: describeAttributes,
};
