import { checkoutDeps } from '../../composition/checkout.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { getPrices } from '../../lib/api/stripe.ts';
import { getPriceList } from '../../lib/checkout/price-list.ts';

export const handler = createHandler(
  getPrices,
  checkoutDeps,
)(async ({ app, recorder }, deps) => ({
  ok: true,
  products: await getPriceList({ app, recorder, deps }),
}));
