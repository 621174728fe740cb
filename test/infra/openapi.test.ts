import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { buildOpenApiDocument } from '../../infra/openapi.ts';
import { contracts } from '../../lib/api/index.ts';

describe('buildOpenApiDocument', () => {
  it('matches docs/openapi.json, which npm run openapi writes', () => {
    const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as unknown;
    expect(document).toEqual(JSON.parse(JSON.stringify(buildOpenApiDocument(contracts))));
  });
});
