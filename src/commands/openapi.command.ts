import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiText } from '../api-docs/index.js';

const FILE = join(import.meta.dirname, '..', '..', '..', 'src', 'api-docs', 'openapi.json');

writeFileSync(FILE, openApiText());
console.log(`written: ${FILE}`);
