import { writeFileSync } from 'node:fs';
import { contracts } from '../lib/api/index.ts';
import { openApiDocument } from './openapi.ts';

writeFileSync(
  new URL('../docs/openapi.json', import.meta.url),
  `${JSON.stringify(openApiDocument(contracts), undefined, 2)}\n`,
);
