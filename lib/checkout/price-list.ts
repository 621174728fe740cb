import * as v from 'valibot';
import { PriceListProduct } from '../api/processor-a.ts';
import { ServiceError } from '../shared/errors.ts';
import { parse } from '../shared/parse.ts';
import type { StripeAccount } from '../stores/processor-a/fetch-observations.ts';
import { Price, type Product, parseStripeObject } from '../stores/processor-a/payloads.ts';
import { callStripe } from '../stores/processor-a/stripe-client.ts';
import { type CheckoutContext, openCheckoutAccount } from './checkout-context.ts';
import { parseOfferId } from './offer-id.ts';
import { isSoldByApp, parseActiveProduct, toPriceList } from './to-price-list.ts';

const pagingLimit = { limit: 2_000 };

/** The price list of the application, at most 5 minutes old. */
export async function getPriceList(context: CheckoutContext): Promise<PriceListProduct[]> {
  const { app, deps } = context;
  const account = await openCheckoutAccount(context);
  const { platform, now: fetchedAt } = account.mapping;
  const kept = await deps.priceLists.findFresh(app.name, platform, fetchedAt);
  if (kept !== undefined) return parse(v.array(PriceListProduct), kept, 'DatabaseError');
  const prices = await callStripe(
    async () =>
      await account.stripe.prices
        .list({ active: true, limit: 100, expand: ['data.product'] })
        .autoPagingToArray(pagingLimit),
  );
  const products = toPriceList(parseStripeObject(v.array(Price), prices), account.mapping);
  await deps.priceLists.save({ appName: app.name, platform, fetchedAt }, products);
  return products;
}

/** The price of an offer with its product. Throws `InvalidPayload` for one that the application does not sell now. */
export async function findOfferPrice(
  offerId: string,
  account: StripeAccount,
): Promise<{ price: Price; product: Product }> {
  const parsedOffer = parseOfferId(offerId);
  const response = await callStripe(() => account.stripe.prices.retrieve(parsedOffer.price, { expand: ['product'] }));
  const price = parseStripeObject(Price, response);
  const product = parseActiveProduct(price);
  const isOwnOffer =
    product && isSoldByApp(product, account.mapping) && (parsedOffer.product ?? product.id) === product.id;
  if (!price.active || !isOwnOffer) throw new ServiceError('InvalidPayload', 'offerId: this offer is not sold.');
  return { price, product };
}
