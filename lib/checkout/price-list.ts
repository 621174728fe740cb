import * as v from 'valibot';
import { PriceListProduct } from '../api/processor-a.ts';
import { ServiceError } from '../shared/errors.ts';
import { parse } from '../shared/parse.ts';
import { callStripe } from '../stores/processor-a/stripe-client.ts';
import type { StripeAccount } from '../stores/processor-a/fetch-observations.ts';
import { Price, type Product, parseStripeObject } from '../stores/processor-a/payloads.ts';
import { parseOfferId } from './offer-id.ts';
import { isSoldByApp, parseActiveProduct, toPriceList } from './to-price-list.ts';
import { type CheckoutContext, openCheckoutAccount } from './checkout-context.ts';

const pagingLimit = { limit: 2_000 };

/** The price list of the application, at most 5 minutes old. */
export async function getPriceList(selling: CheckoutContext): Promise<PriceListProduct[]> {
  const { app, deps } = selling;
  const look = await openCheckoutAccount(selling);
  const { platform, now: fetchedAt } = look.mapping;
  const kept = await deps.priceLists.findFresh(app.name, platform, fetchedAt);
  if (kept !== undefined) return parse(v.array(PriceListProduct), kept, 'DatabaseError');
  const prices = await callStripe(
    async () =>
      await look.stripe.prices
        .list({ active: true, limit: 100, expand: ['data.product'] })
        .autoPagingToArray(pagingLimit),
  );
  const products = toPriceList(parseStripeObject(v.array(Price), prices), look.mapping);
  await deps.priceLists.save({ app: app.name, platform, fetchedAt }, products);
  return products;
}

/** The price of an offer with its product. Throws `InvalidPayload` for one that the application does not sell now. */
export async function findOfferPrice(
  offerId: string,
  look: StripeAccount,
): Promise<{ price: Price; product: Product }> {
  const parsedOffer = parseOfferId(offerId);
  const answer = await callStripe(() => look.stripe.prices.retrieve(parsedOffer.price, { expand: ['product'] }));
  const price = parseStripeObject(Price, answer);
  const product = parseActiveProduct(price);
  const isOwnOffer =
    product && isSoldByApp(product, look.mapping) && (parsedOffer.product ?? product.id) === product.id;
  if (!price.active || !isOwnOffer) throw new ServiceError('InvalidPayload', 'offerId: this offer is not sold.');
  return { price, product };
}
