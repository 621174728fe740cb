import { getPrices } from '../../lib/checkout/contract.ts';
import { getPriceList } from '../../lib/checkout/price-list.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(getPrices)(async ({ app, recorder }, service) => ({
  ok: true,
  products: await getPriceList({ app, recorder, service }),
}));
