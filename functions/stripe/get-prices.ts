import { getPrices } from '../../lib/api/stripe.ts';
import { getPriceList } from '../../lib/checkout/price-list.ts';
import { checkoutProviders } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(
  getPrices,
  checkoutProviders,
)(async ({ app, recorder }, deps) => ({
  ok: true,
  products: await getPriceList({ app, recorder, deps }),
}));
