import { writeFileSync } from 'node:fs';
import { contracts } from '../lib/contracts/index.ts';
import { buildOpenApiDocument } from './openapi.ts';
import { renderApiReference } from './render-api-reference.ts';
import { renderLlmsText } from './render-llms-text.ts';

const document = buildOpenApiDocument(contracts);
const write = (file: string, text: string): void => writeFileSync(new URL(`../docs/${file}`, import.meta.url), text);

write('openapi.json', `${JSON.stringify(document, undefined, 2)}\n`);
write('api-reference.md', renderApiReference(document));
write('llms.txt', renderLlmsText(document));
