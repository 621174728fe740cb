import { toCatalogueTag } from '../../lib/apps/catalogue.ts';
import { getCatalogue } from '../../lib/apps/catalogue-contract.ts';
import { findCatalogue } from '../../lib/apps/catalogue-table.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { createReply } from '../../lib/http/response.ts';

export const handler = createHandler(getCatalogue)(async ({ app }, service) => {
  const catalogue = (await findCatalogue(service, app.name)) ?? {};
  return createReply({ body: { ...catalogue }, headers: { ETag: `"${toCatalogueTag(catalogue)}"` } });
});
