import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { contracts } from '../lib/contracts/index.ts';
import { buildOpenApiDocument } from './openapi.ts';
import { computeDigests, digestsFile } from './openapi-digests.ts';
import { projectFolder } from './project-folder.ts';
import { buildServerTypes, serverTypeFiles } from './server-types.ts';

// Writes the API document into `dist/`, and what is in git: the digests of the operations, and the types of the
// packages for servers.

const document = buildOpenApiDocument(contracts);

function write(file: string, text: string): void {
  const path = join(projectFolder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

write('dist/openapi.json', `${JSON.stringify(document, undefined, 2)}\n`);
write(digestsFile, `${JSON.stringify(computeDigests(document), undefined, 2)}\n`);

const types = buildServerTypes(document.components.schemas);
write(serverTypeFiles.typeScript, types.typeScript);
write(serverTypeFiles.python, types.python);
