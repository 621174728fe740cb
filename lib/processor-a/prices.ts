import * as v from 'valibot';
import { PricedProduct } from '../api/processor-a.ts';
import { ServiceError } from '../errors.ts';
import { parse } from '../parse.ts';
import { answered } from '../stores/processor-a/client.ts';
import type { Look } from '../stores/processor-a/looks.ts';
import { Price, type Product, read } from '../stores/processor-a/objects.ts';
import { priceInOffer } from './offer-id.ts';
import { isOwn, pricedProducts, productOf } from './priced-products.ts';
import { accountOf, type Selling } from './selling.ts';

const most = { limit: 2_000 };

/** The price list of the application, at most 5 minutes old. */
export async function priceList(selling: Selling): Promise<PricedProduct[]> {
  const { app, deps } = selling;
  const look = await accountOf(selling);
  const { platform, now: askedAt } = look.origin;
  const kept = await deps.priceLists.find(app.name, platform, askedAt);
  if (kept !== undefined) return parse(v.array(PricedProduct), kept, 'DatabaseError');
  const prices = await answered(
    async () =>
      await look.stripe.prices.list({ active: true, limit: 100, expand: ['data.product'] }).autoPagingToArray(most),
  );
  const products = pricedProducts(read(v.array(Price), prices), look.origin);
  await deps.priceLists.keep({ app: app.name, platform, askedAt }, products);
  return products;
}

/** The price of an offer with its product. Throws `InvalidPayload` for one that the application does not sell now. */
export async function offeredPrice(offerId: string, look: Look): Promise<{ price: Price; product: Product }> {
  const wanted = priceInOffer(offerId);
  const answer = await answered(() => look.stripe.prices.retrieve(wanted.price, { expand: ['product'] }));
  const price = read(Price, answer);
  const product = productOf(price);
  const fits = product && isOwn(product, look.origin) && (wanted.product ?? product.id) === product.id;
  if (!price.active || !fits) throw new ServiceError('InvalidPayload', 'offerId: this offer is not sold.');
  return { price, product };
}
