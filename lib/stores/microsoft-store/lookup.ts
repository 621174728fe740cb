import { omitUndefined } from '../../foundation/omit-undefined.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import { fetchCollection, type QueryScope, type RequestedProduct } from './collections.ts';
import { toItemObservation } from './item-observation.ts';
import { formatPrice, type MappingContext, type ReportedAmount } from './mapping-context.ts';
import type { CollectionsItem, RecurrenceItem } from './payloads.ts';
import { toRecurrenceObservation } from './recurrence-observation.ts';
import { fetchRecurrences } from './recurrences.ts';
import type { MicrosoftSession } from './session.ts';
import type { StoreIdKey, StoreService } from './store-id-key.ts';

/** A query for a customer's purchases of a product. */
export interface LookupRequest {
  readonly product: RequestedProduct;
  readonly isSubscription: boolean;
  readonly keys: Readonly<Partial<Record<StoreService, StoreIdKey>>>;
  readonly sandboxId?: string;
  readonly period?: string;
  readonly reportedAmount?: ReportedAmount;
  /** The price of the refresh token. */
  readonly price?: string;
  readonly previousExpiration?: EpochMillis;
}

/** Microsoft's name of the production environment. A query without a sandbox means the same. */
const retail = 'RETAIL';

/** An observation with Microsoft's own item. */
export interface ObservedItem {
  readonly observation: Observation;
  readonly nativeTransaction: Readonly<Record<string, unknown>>;
}

/** The purchases of the product, or the service whose StoreID key is missing, expired or rejected. */
export type LookupResult =
  | { readonly kind: 'observed'; readonly observed: readonly ObservedItem[] }
  | { readonly kind: 'keyNeeded'; readonly service: StoreService };

/**
 * Queries the service that manages the type of product. Queries the other service if the item turns out to be a
 * subscription, or if a subscription is not found and there is a key for collections.
 */
export async function lookUpProduct(session: MicrosoftSession, request: LookupRequest): Promise<LookupResult> {
  if (!request.isSubscription) return await lookUpCollection(session, request);
  const recurrences = await lookUpRecurrences(session, request);
  const isComplete = recurrences.kind === 'keyNeeded' || recurrences.observed.length > 0;
  if (isComplete || !findUsableKey(session, request, 'collections')) return recurrences;
  return await lookUpCollection(session, request, recurrences);
}

/** Queries the collection. A recurrence has more details than the collection's item of the same subscription. */
async function lookUpCollection(
  session: MicrosoftSession,
  request: LookupRequest,
  recurrences?: LookupResult,
): Promise<LookupResult> {
  const key = findUsableKey(session, request, 'collections');
  if (!key) return { kind: 'keyNeeded', service: 'collections' };
  const asOf = session.now();
  const result = await fetchCollection(session, request.product, toQueryScope(request, key));
  if (result.kind !== 'found') return { kind: 'keyNeeded', service: 'collections' };
  const subscription = result.value.find(({ recurrenceId }) => recurrenceId);
  if (subscription && !recurrences) {
    const product = { id: subscription.productId, isStoreId: true };
    const lookup = await lookUpRecurrences(session, { ...request, product });
    if (lookup.kind === 'keyNeeded' || lookup.observed.length > 0) return lookup;
  }
  const context = createMappingContext(request, { asOf, key });
  return { kind: 'observed', observed: result.value.flatMap((item) => toObservedItem(item, context)) };
}

async function lookUpRecurrences(session: MicrosoftSession, request: LookupRequest): Promise<LookupResult> {
  const key = findUsableKey(session, request, 'purchase');
  if (!key) return { kind: 'keyNeeded', service: 'purchase' };
  const asOf = session.now();
  const result = await fetchRecurrences(session, toQueryScope(request, key));
  if (result.kind !== 'found') return { kind: 'keyNeeded', service: 'purchase' };
  const context = createMappingContext(request, { asOf, key });
  const requestedId = request.product.id.toUpperCase();
  const items = result.value.filter(({ productId }) => productId.toUpperCase() === requestedId);
  return { kind: 'observed', observed: items.map((item) => toObservedRecurrence(item, context)) };
}

/** Returns the key unless it has expired: the store then neither accepts nor renews it. */
function findUsableKey(
  session: MicrosoftSession,
  { keys }: LookupRequest,
  service: StoreService,
): StoreIdKey | undefined {
  const key = keys[service];
  return key && key.expiresAt > session.now() ? key : undefined;
}

const toQueryScope = ({ sandboxId }: LookupRequest, key: StoreIdKey): QueryScope => ({
  key,
  ...omitUndefined({ sandboxId }),
});

function createMappingContext(
  request: LookupRequest,
  { asOf, key }: { readonly asOf: EpochMillis; readonly key: StoreIdKey },
): MappingContext {
  const { keys, product, sandboxId, period, reportedAmount, previousExpiration } = request;
  const price = reportedAmount ? formatPrice(reportedAmount) : request.price;
  return {
    asOf,
    sandbox: sandboxId !== undefined && sandboxId.toUpperCase() !== retail,
    ...(key.userId !== undefined && { userId: key.userId }),
    ...(reportedAmount && { reportedAmount }),
    ...omitUndefined({ previousExpiration }),
    refreshToken: {
      productId: product.id,
      ...(keys.collections && { collectionsKey: keys.collections.key }),
      ...(keys.purchase && { purchaseKey: keys.purchase.key }),
      ...omitUndefined({ sandboxId, period, price }),
    },
  };
}

/** Removes the members that identify the customer from the native item. */
function toObservedItem(item: CollectionsItem, context: MappingContext): ObservedItem[] {
  const observation = toItemObservation(item, context);
  const { purchaser: _purchaser, localTicketReference: _userId, ...nativeTransaction } = item;
  return observation ? [{ observation, nativeTransaction }] : [];
}

const toObservedRecurrence = (item: RecurrenceItem, context: MappingContext): ObservedItem => ({
  observation: toRecurrenceObservation(item, context),
  nativeTransaction: item,
});
