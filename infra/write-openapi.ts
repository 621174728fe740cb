import { writeFileSync } from 'node:fs';
import { contracts } from '../lib/api/index.ts';
import { buildOpenApiDocument } from './openapi.ts';

writeFileSync(
  new URL('../docs/openapi.json', import.meta.url),
  `${JSON.stringify(buildOpenApiDocument(contracts), undefined, 2)}\n`,
);
