import { getPrices } from '../../lib/api/processor-a.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { priceList } from '../../lib/processor-a/prices.ts';

export const handler = endpoint(getPrices)(async ({ app, event }, deps) => ({
  ok: true,
  products: await priceList({ app, event, deps }),
}));
