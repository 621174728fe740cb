import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { entitlementDeps } from '../../composition/entitlements.ts';
import { pagedLists } from '../../composition/lists.ts';
import { setCatalogue as contract } from '../../lib/api/app.ts';
import { setCatalogue } from '../../lib/apps/manage-apps.ts';
import { createPurchaseListRepository } from '../../lib/db/list-repositories.ts';
import { previewCatalogue, requestBounds } from '../../lib/entitlements/preview-catalogue.ts';
import { createReply } from '../../lib/http/reply.ts';
import { Catalogue, toCatalogueTag } from '../../lib/purchases/catalogue.ts';
import { parse } from '../../lib/shared/parse.ts';

export const handler = createHandler(contract, () => ({
  ...entitlementDeps(),
  apps: apps(),
  purchaseLists: createPurchaseListRepository(pagedLists()),
}))(async ({ app, query, body, getHeader }, deps) => {
  if (query.dryRun === 'true') {
    const after = parse(Catalogue, body);
    const before = await deps.apps.findCatalogue(app.name);
    const preview = await previewCatalogue(app, { before, after }, deps, requestBounds);
    return { ok: true, products: Object.keys(after).length, preview };
  }
  const catalogue = await setCatalogue(deps.apps, app.name, body, readTag(getHeader('if-match')));
  return createReply({
    body: { ok: true, products: Object.keys(catalogue).length },
    headers: { ETag: `"${toCatalogueTag(catalogue)}"` },
  });
});

/** A proxy that compresses can mark the tag as weak. An asterisk matches any catalogue. */
const readTag = (header: string | undefined): string | undefined =>
  header === undefined || header.trim() === '*' ? undefined : header.trim().replace(/^(?:W\/)?"|"$/g, '');
