import { ServiceError } from '../foundation/errors.ts';
import { toNeutralId } from '../foundation/vocabulary.ts';

const prefixes = /^(?:service_)?processor_a:/;

/** Removes the optional platform prefix of either vocabulary from a Stripe id. */
export const toStripeId = (id: string): string => toNeutralId(id).replace(prefixes, '');

/** Parses an offer id: `{platform}:{product}#{price}`, `{product}#{price}` or `{price}`. */
export function parseOfferId(offerId: string): { readonly price: string; readonly product?: string } {
  const offer = toStripeId(offerId);
  const hash = offer.lastIndexOf('#');
  const price = offer.slice(hash + 1);
  if (!/^[A-Za-z0-9_-]{1,200}$/.test(price)) {
    throw new ServiceError('InvalidPayload', 'offerId is not valid.');
  }
  return { price, ...(hash > 0 && { product: offer.slice(0, hash) }) };
}
