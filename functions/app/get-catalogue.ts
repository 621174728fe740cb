import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { getCatalogue } from '../../lib/api/app.ts';
import { createReply } from '../../lib/http/reply.ts';
import { toCatalogueTag } from '../../lib/purchases/catalogue.ts';

export const handler = createHandler(getCatalogue, () => ({ apps: apps() }))(async ({ app }, deps) => {
  const catalogue = (await deps.apps.findCatalogue(app.name)) ?? {};
  return createReply({ body: { ...catalogue }, headers: { ETag: `"${toCatalogueTag(catalogue)}"` } });
});
