import type { ExportedPurchase, Move } from './mover.ts';
import type { PulledCustomer } from './pull-revenuecat.ts';
import { isAnonymous } from './revenuecat.ts';
import { toStoreMove } from './store-move.ts';

interface ConversionContext {
  /** Product ids of the stores, by RevenueCat's id. */
  readonly productIds: ReadonlyMap<string, string>;
  readonly now: number;
}

/** Converts what a customer bought. Grants are promotional subscriptions. */
export function fromRevenueCatCustomer(customer: PulledCustomer, context: ConversionContext): ExportedPurchase[] {
  const user = [customer.id, ...customer.aliases].find((id) => !isAnonymous(id));
  const toPurchase = (id: string, move: Move): ExportedPurchase => ({ key: id, version: '', move });
  const owner = user === undefined ? {} : { user };
  return [
    ...customer.subscriptions.flatMap((subscription) => {
      const { id, store, environment, product_id, store_subscription_identifier: identifier } = subscription;
      if (store === 'promotional') return toGrants(subscription, user, context).map((move) => toPurchase(id, move));
      const productId = context.productIds.get(product_id ?? '');
      return [toPurchase(id, toMove({ id, store, environment, identifier, productId }, owner))];
    }),
    ...customer.purchases.map(({ id, store, environment, product_id, store_purchase_identifier: identifier }) => {
      const productId = context.productIds.get(product_id ?? '');
      return toPurchase(id, toMove({ id, store, environment, identifier, productId }, owner));
    }),
  ];
}

interface StorePurchase {
  readonly id: string;
  readonly store: string;
  readonly environment: string | null | undefined;
  readonly identifier: string | null | undefined;
  readonly productId: string | undefined;
}

function toMove(
  { id, store, environment, identifier, productId }: StorePurchase,
  owner: { readonly user?: string },
): Move {
  if (!identifier) return { id, reason: 'RevenueCat has no id of the store for it.' };
  const isSandbox = environment === 'sandbox';
  return toStoreMove({ store, id, storeId: identifier, orderId: identifier, isSandbox, productId, owner });
}

/** A grant that has ended is history only. */
function toGrants(
  { id, current_period_ends_at, ends_at, gives_access, entitlements }: PulledCustomer['subscriptions'][number],
  user: string | undefined,
  { now }: ConversionContext,
): Move[] {
  const until = ends_at ?? current_period_ends_at ?? undefined;
  if (!gives_access || (until !== undefined && until <= now)) return [{ id, reason: 'The grant has ended.' }];
  if (user === undefined)
    return [{ id, reason: 'A grant of an anonymous customer, whom the service cannot identify.' }];
  const names = (entitlements?.items ?? []).map(({ lookup_key }) => lookup_key);
  if (names.length === 0) return [{ id, reason: 'RevenueCat has no entitlement for the grant.' }];
  return names.map((entitlement) => ({ grant: { id, user, entitlement, ...(until !== undefined && { until }) } }));
}
