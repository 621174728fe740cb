import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { buildOpenApiDocument } from '../../infra/openapi.ts';
import { contracts } from '../../lib/api/index.ts';

it('docs/openapi.json is what the contracts say (npm run openapi writes it)', () => {
  const written = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as unknown;
  expect(written).toEqual(JSON.parse(JSON.stringify(buildOpenApiDocument(contracts))));
});
