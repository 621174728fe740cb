import { getPrices } from '../../lib/api/processor-a.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { getPriceList } from '../../lib/checkout/price-list.ts';

export const handler = createHandler(getPrices)(async ({ app, recorder: event }, deps) => ({
  ok: true,
  products: await getPriceList({ app, recorder: event, deps }),
}));
