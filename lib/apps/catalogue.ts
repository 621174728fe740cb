import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { CreditAmount, CreditName, EntitlementName, ProductType } from '../api/schemas.ts';
import { BillingPeriod } from '../foundation/billing-period.ts';
import { toCanonicalJson } from '../foundation/canonical-json.ts';
import { namedRecord } from '../foundation/named-record.ts';
import { withoutPlatform } from '../foundation/platform.ts';

const Name = v.pipe(v.string(), v.minLength(1), v.maxLength(255));

/** A product gives few entitlements: each response about a customer has all of them. */
const maxEntitlements = 20;

/** When credits end: with the paid period, a duration after the payment, or never. */
const CreditEnd = v.union([v.picklist(['period', 'never']), BillingPeriod], 'period, never or a duration');

/** A product as the operator states it. Takes precedence over the client's request. */
export const CatalogueProduct = v.pipe(
  v.strictObject({
    type: ProductType,
    /** Duration of one period. The end of a non-renewing subscription, which most stores do not report. */
    billingPeriod: v.exactOptional(BillingPeriod),
    /** Subscription group: a customer has at most one active subscription of a group. */
    group: v.exactOptional(Name),
    /** The entitlements that the product gives while a purchase of it is active. */
    entitlements: v.exactOptional(
      v.pipe(
        v.array(EntitlementName),
        v.maxLength(maxEntitlements),
        v.check((names) => new Set(names).size === names.length, 'each entitlement once'),
      ),
    ),
    /** Units of credits that each payment gives: per unit of the quantity, or per paid period of a subscription. */
    credits: v.exactOptional(
      v.pipe(
        namedRecord(CreditName, CreditAmount),
        v.check((units) => Object.keys(units).length <= maxEntitlements, `at most ${maxEntitlements} credits`),
      ),
    ),
    /** End of the credits: with the paid period, a duration after the payment, or never. Default: never. */
    expires: v.exactOptional(CreditEnd),
  }),
  v.check(
    ({ type, expires }) => expires !== 'period' || isSubscriptionType(type),
    'expires: period for subscriptions only',
  ),
  v.check(({ credits, expires }) => credits !== undefined || expires === undefined, 'expires with credits only'),
  v.check(
    ({ type, billingPeriod, group }) => isSubscriptionType(type) || (billingPeriod ?? group) === undefined,
    'billingPeriod and group for subscriptions only',
  ),
);
export type CatalogueProduct = v.InferOutput<typeof CatalogueProduct>;

const isSubscriptionType = (type: ProductType): boolean =>
  type === 'paid subscription' || type === 'non renewing subscription';

/** Leaves room in an item of at most 400 KB. */
const maxCatalogueBytes = 300_000;

/** The products of an app, by product id of the store: `gold`, or `store_b:gold` for a single store. */
export const Catalogue = v.pipe(
  namedRecord(Name, CatalogueProduct),
  v.check(
    (products) => Buffer.byteLength(JSON.stringify(products)) <= maxCatalogueBytes,
    `a catalogue of at most ${maxCatalogueBytes / 1000} KB`,
  ),
  v.readonly(),
);
export type Catalogue = v.InferOutput<typeof Catalogue>;

/** Returns the product of a prefixed product id (`store_b:gold`). An entry for the store takes precedence. */
export function findCatalogueProduct(
  catalogue: Catalogue | undefined,
  productId: string,
): CatalogueProduct | undefined {
  const key = [productId, withoutPlatform(productId)].find((id) => catalogue && Object.hasOwn(catalogue, id));
  return key === undefined ? undefined : catalogue?.[key];
}

/** Lists the entitlements that a product gives, by its prefixed id. */
export const listEntitlements = (catalogue: Catalogue | undefined, productId: string): readonly string[] =>
  findCatalogueProduct(catalogue, productId)?.entitlements ?? [];

export const givesEntitlement = (catalogue: Catalogue | undefined, entitlement: string): boolean =>
  Object.values(catalogue ?? {}).some(({ entitlements = [] }) => entitlements.includes(entitlement));

export const listEntitlementNames = (catalogue: Catalogue | undefined): readonly string[] => [
  ...new Set(Object.values(catalogue ?? {}).flatMap(({ entitlements = [] }) => entitlements)),
];

export const hasEntitlements = (catalogue: Catalogue | undefined): boolean =>
  listEntitlementNames(catalogue).length > 0;

export const hasCredits = (catalogue: Catalogue | undefined): boolean =>
  Object.values(catalogue ?? {}).some(({ credits }) => credits !== undefined);

/** Returns the tag of a catalogue: the same for the same products, in any order. */
export function toCatalogueTag(catalogue: Catalogue): string {
  const products = Object.entries(catalogue).map(([id, product]) => [id, toCanonicalJson(product)]);
  return createHash('sha256')
    .update(toCanonicalJson(Object.fromEntries(products)))
    .digest('hex')
    .slice(0, 16);
}
