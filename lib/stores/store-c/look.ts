import type { Observation } from '../../purchases/observation.ts';
import type { Millis } from '../../purchases/purchase.ts';
import { type CollectionsItem, collectionOf, type WantedProduct } from './collections.ts';
import { itemObservation } from './item-observation.ts';
import type { Looking, ReportedAmount } from './looking.ts';
import { recurrenceObservation } from './recurrence-observation.ts';
import { type RecurrenceItem, recurrencesOf } from './recurrences.ts';
import type { Session } from './session.ts';
import type { Service, StoreIdKey } from './store-id-key.ts';

/** What is asked about a customer. */
export interface Question {
  readonly product: WantedProduct;
  readonly isSubscription: boolean;
  readonly keys: Readonly<Partial<Record<Service, StoreIdKey>>>;
  readonly sandboxId?: string;
  readonly period?: string;
  readonly reportedAmount?: ReportedAmount;
  readonly previousExpiration?: Millis;
}

/** The sandbox of what customers really buy; no sandbox means it, too. */
const retail = 'RETAIL';

/** What was seen, with the store's own words for it. */
export interface Seen {
  readonly observation: Observation;
  readonly native: Readonly<Record<string, unknown>>;
}

/** What a look came to: what there is of the product, or a key that it needs and that is missing or of no use any more. */
export type Looked =
  | { readonly kind: 'seen'; readonly seen: readonly Seen[] }
  | { readonly kind: 'needs'; readonly service: Service };

/** Asks the service that knows such products, and the other one when the first says that, or when it knows nothing. */
export async function look(session: Session, question: Question): Promise<Looked> {
  if (!question.isSubscription) return await lookInCollection(session, question);
  const subscriptions = await lookAtRecurrences(session, question);
  const isKnown = subscriptions.kind === 'needs' || subscriptions.seen.length > 0;
  if (isKnown || !usableKey(session, question, 'collections')) return subscriptions;
  return await lookInCollection(session, question, subscriptions);
}

/** The entries of the collection; of a subscription among them the recurrence tells more. */
async function lookInCollection(session: Session, question: Question, recurrences?: Looked): Promise<Looked> {
  const key = usableKey(session, question, 'collections');
  if (!key) return { kind: 'needs', service: 'collections' };
  const asOf = session.now();
  const answer = await collectionOf(session, question.product, { ...placeOf(question), key });
  if (answer.kind !== 'found') return { kind: 'needs', service: 'collections' };
  const subscription = answer.value.find(({ recurrenceId }) => recurrenceId);
  if (subscription && !recurrences) {
    const product = { id: subscription.productId, isStoreId: true };
    const looked = await lookAtRecurrences(session, { ...question, product });
    if (looked.kind === 'needs' || looked.seen.length > 0) return looked;
  }
  const looking = lookingAt(question, { asOf, key });
  return { kind: 'seen', seen: answer.value.flatMap((item) => seenItem(item, looking)) };
}

async function lookAtRecurrences(session: Session, question: Question): Promise<Looked> {
  const key = usableKey(session, question, 'purchase');
  if (!key) return { kind: 'needs', service: 'purchase' };
  const asOf = session.now();
  const answer = await recurrencesOf(session, { ...placeOf(question), key });
  if (answer.kind !== 'found') return { kind: 'needs', service: 'purchase' };
  const looking = lookingAt(question, { asOf, key });
  const wanted = question.product.id.toUpperCase();
  const items = answer.value.filter(({ productId }) => productId.toUpperCase() === wanted);
  return { kind: 'seen', seen: items.map((item) => seenRecurrence(item, looking)) };
}

/** An expired key is as good as none: the store does not even renew it. */
function usableKey(session: Session, { keys }: Question, service: Service): StoreIdKey | undefined {
  const key = keys[service];
  return key && key.expiresAt > session.now() ? key : undefined;
}

const placeOf = ({ sandboxId }: Question) => (sandboxId === undefined ? {} : { sandboxId });

function lookingAt(question: Question, { asOf, key }: { asOf: Millis; key: StoreIdKey }): Looking {
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

function seenItem(item: CollectionsItem, looking: Looking): Seen[] {
  const observation = itemObservation(item, looking);
  const { purchaser: _who, localTicketReference: _whose, ...native } = item;
  return observation ? [{ observation, native }] : [];
}

const seenRecurrence = (item: RecurrenceItem, looking: Looking): Seen => ({
  observation: recurrenceObservation(item, looking),
  native: item,
});
