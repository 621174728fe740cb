import { ServiceError } from '../shared/errors.ts';
import { toNeutralId } from '../shared/vocabulary.ts';

const prefixes = /^(?:service_)?processor_a:/;

/** An id of the processor, without the platform that a client may have put in front, in whichever words. */
export const toStripeId = (id: string): string => toNeutralId(id).replace(prefixes, '');

/** The price, and the product where it is named, of `{platform}:<product>#<price>`, of that without platform, or of a price. */
export function parseOfferId(offerId: string): { readonly price: string; readonly product?: string } {
  const offer = toStripeId(offerId);
  const hash = offer.lastIndexOf('#');
  const price = offer.slice(hash + 1);
  if (!/^[A-Za-z0-9_-]{1,200}$/.test(price)) {
    throw new ServiceError('InvalidPayload', 'offerId: expected an offer of the price list.');
  }
  return { price, ...(hash > 0 && { product: offer.slice(0, hash) }) };
}
