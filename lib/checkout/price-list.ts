import * as v from 'valibot';
import type { OperationContext } from '../events/operation-context.ts';
import { ServiceError } from '../foundation/errors.ts';
import { parse } from '../foundation/parse.ts';
import { findFreshPriceList, savePriceList } from '../purchases/price-list-table.ts';
import { listAll, pageSize } from '../stores/stripe/complete-lists.ts';
import { isOwnMetadata } from '../stores/stripe/mapping-context.ts';
import { Price, type Product, parseStripeObject } from '../stores/stripe/payloads.ts';
import type { StripeAccount } from '../stores/stripe/stripe-account.ts';
import { callStripe } from '../stores/stripe/stripe-client.ts';
import { openCheckoutAccount } from './checkout-context.ts';
import { PriceListProduct } from './contract.ts';
import { parseOfferId } from './offer-id.ts';
import { parseActiveProduct, toPriceList } from './to-price-list.ts';

/** Returns the app's price list, at most 5 minutes old. */
export async function getPriceList(context: OperationContext): Promise<PriceListProduct[]> {
  const { app, service } = context;
  const account = await openCheckoutAccount(context);
  const { platform, now: fetchedAt } = account.mapping;
  const cached = await findFreshPriceList(service, app.name, platform, fetchedAt);
  if (cached !== undefined) return parse(v.array(PriceListProduct), cached, 'DatabaseError');
  const prices = await callStripe(() =>
    listAll(account.stripe.prices.list({ active: true, limit: pageSize, expand: ['data.product'] })),
  );
  const products = toPriceList(parseStripeObject(v.array(Price), prices), account.mapping);
  await savePriceList(service, { appName: app.name, platform, fetchedAt }, products);
  return products;
}

/**
 * Fetches the price and product of an offer. Throws `InvalidPayload` if the app does not sell it or it is not active.
 */
export async function findOfferPrice(
  offerId: string,
  account: StripeAccount,
): Promise<{ price: Price; product: Product }> {
  const offer = parseOfferId(offerId);
  const response = await callStripe(() => account.stripe.prices.retrieve(offer.price, { expand: ['product'] }));
  const price = parseStripeObject(Price, response);
  const product = parseActiveProduct(price);
  const isOwnOffer =
    product && isOwnMetadata(account.mapping, product.metadata) && (offer.product ?? product.id) === product.id;
  if (!price.active || !isOwnOffer) throw new ServiceError('InvalidPayload', 'offerId is not an active offer.');
  return { price, product };
}
