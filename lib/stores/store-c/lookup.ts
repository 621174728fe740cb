import type { Observation } from '../../purchases/observation.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { type CollectionsItem, fetchCollection, type RequestedProduct } from './collections.ts';
import { toItemObservation } from './item-observation.ts';
import type { MappingContext, ReportedAmount } from './mapping-context.ts';
import { toRecurrenceObservation } from './recurrence-observation.ts';
import { fetchRecurrences, type RecurrenceItem } from './recurrences.ts';
import type { MicrosoftSession } from './session.ts';
import type { StoreIdKey, StoreService } from './store-id-key.ts';

/** What is asked about a customer. */
export interface LookupRequest {
  readonly product: RequestedProduct;
  readonly isSubscription: boolean;
  readonly keys: Readonly<Partial<Record<StoreService, StoreIdKey>>>;
  readonly sandboxId?: string;
  readonly period?: string;
  readonly reportedAmount?: ReportedAmount;
  readonly previousExpiration?: EpochMillis;
}

/** The sandbox of what customers really buy; no sandbox means it, too. */
const retail = 'RETAIL';

/** What was seen, with the store's own words for it. */
export interface ObservedItem {
  readonly observation: Observation;
  readonly nativeTransaction: Readonly<Record<string, unknown>>;
}

/** What a look came to: what there is of the product, or a key that it needs and that is missing or of no use any more. */
export type LookupResult =
  | { readonly kind: 'seen'; readonly observed: readonly ObservedItem[] }
  | { readonly kind: 'needs'; readonly service: StoreService };

/** Asks the service that knows such products, and the other one when the first says that, or when it knows nothing. */
export async function lookUpProduct(session: MicrosoftSession, question: LookupRequest): Promise<LookupResult> {
  if (!question.isSubscription) return await lookUpCollection(session, question);
  const subscriptions = await lookUpRecurrences(session, question);
  const isKnown = subscriptions.kind === 'needs' || subscriptions.observed.length > 0;
  if (isKnown || !findUsableKey(session, question, 'collections')) return subscriptions;
  return await lookUpCollection(session, question, subscriptions);
}

/** The entries of the collection; of a subscription among them the recurrence tells more. */
async function lookUpCollection(
  session: MicrosoftSession,
  question: LookupRequest,
  recurrences?: LookupResult,
): Promise<LookupResult> {
  const key = findUsableKey(session, question, 'collections');
  if (!key) return { kind: 'needs', service: 'collections' };
  const asOf = session.now();
  const response = await fetchCollection(session, question.product, { ...toQueryScope(question), key });
  if (response.kind !== 'found') return { kind: 'needs', service: 'collections' };
  const subscription = response.value.find(({ recurrenceId }) => recurrenceId);
  if (subscription && !recurrences) {
    const product = { id: subscription.productId, isStoreId: true };
    const lookup = await lookUpRecurrences(session, { ...question, product });
    if (lookup.kind === 'needs' || lookup.observed.length > 0) return lookup;
  }
  const context = createMappingContext(question, { asOf, key });
  return { kind: 'seen', observed: response.value.flatMap((item) => toObservedItem(item, context)) };
}

async function lookUpRecurrences(session: MicrosoftSession, question: LookupRequest): Promise<LookupResult> {
  const key = findUsableKey(session, question, 'purchase');
  if (!key) return { kind: 'needs', service: 'purchase' };
  const asOf = session.now();
  const response = await fetchRecurrences(session, { ...toQueryScope(question), key });
  if (response.kind !== 'found') return { kind: 'needs', service: 'purchase' };
  const context = createMappingContext(question, { asOf, key });
  const wanted = question.product.id.toUpperCase();
  const items = response.value.filter(({ productId }) => productId.toUpperCase() === wanted);
  return { kind: 'seen', observed: items.map((item) => toObservedRecurrence(item, context)) };
}

/** An expired key is as good as none: the store does not even renew it. */
function findUsableKey(
  session: MicrosoftSession,
  { keys }: LookupRequest,
  service: StoreService,
): StoreIdKey | undefined {
  const key = keys[service];
  return key && key.expiresAt > session.now() ? key : undefined;
}

const toQueryScope = ({ sandboxId }: LookupRequest) => (sandboxId === undefined ? {} : { sandboxId });

function createMappingContext(
  question: LookupRequest,
  { asOf, key }: { asOf: EpochMillis; key: StoreIdKey },
): MappingContext {
  const { keys, product, sandboxId, period, reportedAmount, previousExpiration } = question;
  return {
    asOf,
    sandbox: sandboxId !== undefined && sandboxId.toUpperCase() !== retail,
    ...(key.userId !== undefined && { userId: key.userId }),
    ...(reportedAmount && { reportedAmount }),
    ...(previousExpiration !== undefined && { previousExpiration }),
    refreshToken: {
      productId: product.id,
      ...(keys.collections && { collectionsKey: keys.collections.key }),
      ...(keys.purchase && { purchaseKey: keys.purchase.key }),
      ...(sandboxId !== undefined && { sandboxId }),
      ...(period !== undefined && { period }),
    },
  };
}

function toObservedItem(item: CollectionsItem, context: MappingContext): ObservedItem[] {
  const observation = toItemObservation(item, context);
  const { purchaser: _who, localTicketReference: _whose, ...native } = item;
  return observation ? [{ observation, nativeTransaction: native }] : [];
}

const toObservedRecurrence = (item: RecurrenceItem, context: MappingContext): ObservedItem => ({
  observation: toRecurrenceObservation(item, context),
  nativeTransaction: item,
});
