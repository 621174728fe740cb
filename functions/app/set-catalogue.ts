import { Catalogue, toCatalogueTag } from '../../lib/apps/catalogue.ts';
import { setCatalogue } from '../../lib/apps/catalogue-contract.ts';
import { findCatalogue } from '../../lib/apps/catalogue-table.ts';
import { saveCatalogue } from '../../lib/apps/manage-apps.ts';
import { previewCatalogue, requestBounds } from '../../lib/entitlements/preview-catalogue.ts';
import { parse } from '../../lib/foundation/parse.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { createReply } from '../../lib/http/response.ts';

export const handler = createHandler(setCatalogue)(async ({ app, query, body, getHeader }, service) => {
  if (query.dryRun === 'true') {
    const after = parse(Catalogue, body);
    const before = await findCatalogue(service, app.name);
    const preview = await previewCatalogue(service, app, { before, after }, requestBounds);
    return { ok: true, products: Object.keys(after).length, preview };
  }
  const catalogue = await saveCatalogue(service, app.name, body, readTag(getHeader('if-match')));
  return createReply({
    body: { ok: true, products: Object.keys(catalogue).length },
    headers: { ETag: `"${toCatalogueTag(catalogue)}"` },
  });
});

/** A proxy that compresses can mark the tag as weak. An asterisk matches any catalogue. */
const readTag = (header: string | undefined): string | undefined =>
  header === undefined || header.trim() === '*' ? undefined : header.trim().replace(/^(?:W\/)?"|"$/g, '');
