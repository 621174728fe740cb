import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { buildOpenApiDocument } from '../../infra/openapi.ts';
import { buildServerTypes, serverTypeFiles } from '../../infra/server-types.ts';
import { contracts } from '../../lib/contracts/index.ts';

describe('types of the packages for servers', () => {
  it('equal the types of the contracts, which `npm run openapi` writes', () => {
    const types = buildServerTypes(buildOpenApiDocument(contracts).components.schemas);
    expect(readFileSync(serverTypeFiles.typeScript, 'utf8')).toBe(types.typeScript);
    expect(readFileSync(serverTypeFiles.python, 'utf8')).toBe(types.python);
  });
});
