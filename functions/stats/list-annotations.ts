import { listStoredAnnotations } from '../../lib/annotations/annotation-table.ts';
import { listAnnotations } from '../../lib/annotations/contract.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { readPriceChanges } from '../../lib/statistics/read-price-changes.ts';

export const handler = createHandler(listAnnotations)(async ({ app, query }, service) => {
  const [rows, priceChanges] = await Promise.all([
    listStoredAnnotations(service, app.name, query),
    readPriceChanges(service, app.name, query),
  ]);
  return { rows, priceChanges };
});
