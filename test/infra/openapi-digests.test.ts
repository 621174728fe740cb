import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { buildOpenApiDocument } from '../../infra/openapi.ts';
import { computeDigests, digestsFile, listChanges } from '../../infra/openapi-digests.ts';
import { contracts } from '../../lib/contracts/index.ts';

type Json = Record<string, unknown>;
type Document = ReturnType<typeof buildOpenApiDocument>;

const document = buildOpenApiDocument(contracts);
const digests = computeDigests(document);

/** Returns the operations that a change of the document concerns. */
function listChangesOf(change: (changed: Document & { components: { schemas: Record<string, Json> } }) => void) {
  const changed = JSON.parse(JSON.stringify(document));
  change(changed);
  return listChanges(digests, computeDigests(changed));
}

const fieldsOf = ({ components }: Document, name: string) =>
  components.schemas[name]?.properties as Record<string, Json>;

describe(digestsFile, () => {
  // A change of the wire format is intended if the digests of exactly its operations change: `npm run openapi`.
  it('contains the digest of each operation and webhook', () => {
    expect(listChanges(JSON.parse(readFileSync(digestsFile, 'utf8')), digests)).toEqual([]);
  });
});

describe('computeDigests', () => {
  it('changes for the operations whose request or response refers to a changed schema', () => {
    const changes = listChangesOf((changed) => {
      Object.assign(fieldsOf(changed, 'Grant').grantId ?? {}, { type: 'integer' });
    });
    expect(changes).toContain('list-grants: changed');
    expect(changes).not.toContain('list-keys: changed');
    expect(changes.length).toBeLessThan(Object.keys(digests).length / 2);
  });

  it('changes for every operation with a changed format of its errors', () => {
    const changes = listChangesOf((changed) => {
      delete fieldsOf(changed, 'Error').code;
    });
    expect(changes).toContain('list-purchases: changed');
  });

  it('changes with a parameter, a status, a path and a header of a webhook', () => {
    const changes = listChangesOf(({ paths, webhooks }) => {
      Object.assign(paths, { '/v4/search': paths['/v3/search'] });
      delete paths['/v3/search'];
      const operations = paths as Record<string, { get: { parameters: object[]; responses: Json } }>;
      operations['/v3/purchases']?.get.parameters.pop();
      delete operations['/v3/app']?.get.responses[503];
      webhooks.test.post.parameters.pop();
    });
    expect(changes).toEqual([
      'get-app: changed',
      'list-purchases: changed',
      'receive-test: changed',
      'search: changed',
    ]);
  });

  it('changes with a field that has the name of a text', () => {
    const changes = listChangesOf((changed) => {
      fieldsOf(changed, 'Grant').description = { type: 'string' };
    });
    expect(changes).toContain('list-grants: changed');
  });

  it('stays without texts and examples, and with another order of fields', () => {
    const changes = listChangesOf((changed) => {
      const { Grant: schema = {} } = changed.components.schemas;
      schema.description = 'Other';
      schema.properties = Object.fromEntries(Object.entries(schema.properties as Json).reverse());
      for (const field of Object.values(schema.properties as Record<string, Json>)) field.examples = ['other'];
      Object.assign(changed.paths['/v3/search']?.get ?? {}, { summary: 'Other', description: 'Other' });
    });
    expect(changes).toEqual([]);
  });
});

describe('listChanges', () => {
  it('names new, changed and removed operations', () => {
    const changes = listChanges({ kept: '1', changed: '1', gone: '1' }, { kept: '1', changed: '2', added: '1' });
    expect(changes).toEqual(['added: new', 'changed: changed', 'gone: removed']);
  });
});
