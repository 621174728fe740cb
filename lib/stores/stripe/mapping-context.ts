import * as v from 'valibot';
import { Username } from '../../api/schemas.ts';
import { ServiceError } from '../../foundation/errors.ts';
import { type Platform, type platformTokens, withPlatform } from '../../foundation/platform.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Price } from './payloads.ts';

/** Platforms of this adapter: an app's own account and the account of the deployment. */
export type StripePlatform = Extract<Platform, typeof platformTokens.stripe | typeof platformTokens.serviceStripe>;

/** Data that the mapping from Stripe objects to observations needs. */
export interface MappingContext {
  /** Prefix of all ids. */
  readonly platform: StripePlatform;
  readonly appName: string;
  /** Length of access after a failed renewal payment. */
  readonly graceMs: number;
  readonly now: EpochMillis;
  /** Prices that are neither current nor billed for a whole period, by id: of earlier trials and of prorations. */
  readonly pastPrices?: ReadonlyMap<string, Price>;
}

type Metadata = Readonly<Record<string, string>> | null;

/** Creates the offer id `{platform}:{product}#{price}`. */
export const toOfferId = ({ platform }: Pick<MappingContext, 'platform'>, product: string, price: string): string =>
  `${withPlatform(platform, product)}#${price}`;

/** Returns the product id of a price. */
export const getPriceProductId = ({ product }: Price): string => (typeof product === 'string' ? product : product.id);

/** Several apps can share an account; `metadata.app` names the app. */
export const isOwnMetadata = ({ appName }: Pick<MappingContext, 'appName'>, metadata: Metadata): boolean =>
  metadata?.app === undefined || metadata.app === appName;

/** Throws `InvalidPayload` if the object belongs to another app with the same account. */
export function requireOwnApp(mapping: Pick<MappingContext, 'appName'>, metadata: Metadata): void {
  if (!isOwnMetadata(mapping, metadata)) {
    throw new ServiceError('InvalidPayload', 'The purchase belongs to another app.');
  }
}

/**
 * Returns the user of a checkout of this service. Only the secret key of the account can write metadata, and only the
 * checkout writes both keys; buyers can write a `client_reference_id` into the URL of a payment link.
 *
 * @see https://docs.stripe.com/metadata
 */
export const readCheckoutUser = (
  { appName }: Pick<MappingContext, 'appName'>,
  metadata: Metadata,
): { readonly checkoutUsername?: string } => {
  const username = v.safeParse(Username, metadata?.applicationUsername);
  return metadata?.app === appName && username.success ? { checkoutUsername: username.output } : {};
};

/** Returns the username in the metadata. `application_username` is the key of older integrations. */
export const readUserAliases = (metadata: Metadata): string[] =>
  [metadata?.applicationUsername, metadata?.application_username].filter((user) => user !== undefined).slice(0, 1);
