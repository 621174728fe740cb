import type { Charge } from './payloads.ts';

interface Address {
  readonly country: string | null;
}

/**
 * Returns the country of a charge in two letters: of its billing address, else of its card.
 *
 * @see https://docs.stripe.com/api/charges/object#charge_object-payment_method_details-card-country
 */
function getChargeCountry({ billing_details, payment_method_details }: Charge): string | undefined {
  return billing_details?.address?.country || payment_method_details?.card?.country || undefined;
}

/** Indexes the countries of charges by charge id and payment intent id, because an invoice can name either. */
export function indexCountries(charges: readonly Charge[]): ReadonlyMap<string, string> {
  const countries = new Map<string, string>();
  for (const charge of charges) {
    const country = getChargeCountry(charge);
    if (country !== undefined) for (const id of [charge.id, charge.payment_intent]) if (id) countries.set(id, country);
  }
  return countries;
}

/** Selects the country of a payment. The address that the customer entered precedes the charge with one of `ids`. */
export const selectCountry = (
  address: Address | null | undefined,
  countries: ReadonlyMap<string, string>,
  ids: readonly (string | null | undefined)[],
): string | undefined => address?.country || ids.flatMap((id) => countries.get(id ?? '') ?? [])[0];
