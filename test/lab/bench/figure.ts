import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { published } from './published.js';

// Usage: npm run bench -- figure. Writes the picture and the tables of the results that are in this folder.

const FOLDER = join('test', 'lab', 'bench');

for (const [file, text] of Object.entries(await published(FOLDER))) {
  await writeFile(join(FOLDER, file), text);
  console.log(`wrote ${join(FOLDER, file)}`);
}
