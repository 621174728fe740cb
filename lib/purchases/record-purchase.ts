import { channel } from 'node:diagnostics_channel';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { retryOnConflict } from '../foundation/updates.ts';
import { findFirstPayment } from './add-payment-figures.ts';
import { omitErasedNames } from './erased-name-table.ts';
import { registerPayer } from './payer-table.ts';
import type { Payer } from './payment-figures.ts';
import { type PrepareUpdate, prepareUpdates, type RecordPurchaseInput } from './prepare-update.ts';
import { computePurchaseChange, isCheckOnly, type PurchaseChange, type PurchaseUpdate } from './purchase-change.ts';
import {
  findPurchaseForChange,
  findStoredPurchase,
  isPartHandled,
  markPartHandled,
  savePurchaseChange,
  savePurchaseCheck,
  shareClaim,
} from './purchase-table.ts';
import type { NotificationPart, StoredPurchase } from './stored-purchase.ts';
import { resolveMergedName } from './user-alias-table.ts';

export interface RecordPurchaseResult {
  /** The purchase after the update. */
  readonly stored: StoredPurchase;
  /** Undefined if there was nothing to write. */
  readonly change?: PurchaseChange;
}

/**
 * Attempt of a validation that shares its claim with the concurrent writers. Before it, concurrent validations of one
 * customer have found the claim of the first one.
 */
const sharingAttempt = 3;

/**
 * Attempts of a validation: more than of others, because each of them brings its claim closer to another writer. Takes
 * about 10 s.
 */
const validationAttempts = 20;

/** A message of `purchaseChanges`. */
export interface PublishedChange {
  readonly service: Service;
  readonly appName: string;
  readonly change: PurchaseChange;
}

/** The stored changes of purchases, for observers in the same process. */
export const purchaseChanges = channel('claimcheck:purchase-change');

/**
 * Applies an update to a purchase and writes the change in one transaction. Idempotent for a notification part. A
 * validation that meets concurrent writers shares its claim, and the next writer applies all shared claims: the
 * attempts do not grow with the number of writers. Returns undefined if the purchase does not exist. Throws `Conflict`
 * if ten attempts, or 20 of a validation, met a concurrent writer.
 *
 * No observation brings an erased name back: a store repeats the user aliases of a purchase for years. A client that
 * claims a purchase for an erased username ends the erasure, because the customer has returned.
 */
export async function recordPurchase(
  service: Service,
  appName: string,
  purchaseId: string,
  input: RecordPurchaseInput,
): Promise<RecordPurchaseResult | undefined> {
  const resolved = await resolveCheckoutUser(service, appName, input);
  const result = await recordWithRetry(service, appName, purchaseId, await omitErasedNames(service, appName, resolved));
  if (result?.change) purchaseChanges.publish({ service, appName, change: result.change } satisfies PublishedChange);
  return result;
}

/** A checkout keeps its username: the customer can have been merged since. */
async function resolveCheckoutUser(
  service: Service,
  appName: string,
  input: RecordPurchaseInput,
): Promise<RecordPurchaseInput> {
  const { observation } = input;
  if (observation?.checkoutUsername === undefined) return input;
  const checkoutUsername = await resolveMergedName(service, appName, observation.checkoutUsername);
  return { ...input, observation: { ...observation, checkoutUsername } };
}

async function recordWithRetry(
  service: Service,
  appName: string,
  purchaseId: string,
  { notificationPart: part, ...update }: RecordPurchaseInput,
): Promise<RecordPurchaseResult | undefined> {
  const { trigger, claim, now } = update;
  const prepare = await prepareUpdates(service, appName, update);
  const context: UpdateContext = { appName, purchaseId, now, part, prepare };
  const changesRarely = (trigger === 'validation' || trigger === 'refresh') && !part;
  return await retryOnConflict(
    async (attempt) => {
      // A shared claim has the time of its writer, so an imported claim with an earlier time is not shared.
      if (attempt === sharingAttempt && claim?.source === 'validation' && claim.claimedAt === undefined)
        await shareClaim(service, appName, purchaseId, { ...claim, now });
      return changesRarely
        ? await recordAfterOneRead(service, context)
        : await recordAfterFullRead(service, context, attempt);
    },
    trigger === 'validation' ? validationAttempts : undefined,
  );
}

/** The purchase that an update is applied to. */
interface UpdateContext {
  readonly appName: string;
  readonly purchaseId: string;
  readonly now: EpochMillis;
  readonly part: NotificationPart | undefined;
  readonly prepare: PrepareUpdate;
}

/** A change before the payer is registered. Without a change if the update changes nothing. */
interface Draft {
  readonly before: StoredPurchase | undefined;
  readonly update: PurchaseUpdate;
  readonly change: PurchaseChange | undefined;
}

/**
 * Applies an update that rarely changes the purchase, with one read. A change is computed again from the result of
 * `findPurchaseForChange`.
 */
async function recordAfterOneRead(service: Service, context: UpdateContext): Promise<RecordPurchaseResult | undefined> {
  const { appName, purchaseId } = context;
  const found = await findStoredPurchase(service, appName, purchaseId);
  const draft = await draftChange(context, found);
  if (!found || !draft.change || isIndependent(draft.change)) return await saveDraft(service, context, draft);
  const loaded = await findPurchaseForChange(service, appName, purchaseId, found);
  return await saveDraft(service, context, await draftChange(context, loaded));
}

/** The change depends on the purchase item only. It is read as one, and its version is a condition. */
const isIndependent = (change: PurchaseChange): boolean =>
  isCheckOnly(change) && findUnregisteredPayer(change) === undefined;

/** Applies an update that changes the purchase in most cases, or a part of a notification. */
async function recordAfterFullRead(
  service: Service,
  context: UpdateContext,
  attempt: number,
): Promise<RecordPurchaseResult | undefined> {
  const { appName, purchaseId, part } = context;
  const [before, isHandled] = await Promise.all([
    findPurchaseForChange(service, appName, purchaseId),
    part && needsMarkerRead(part, attempt) && isPartHandled(service, appName, purchaseId, part),
  ]);
  if (isHandled) return before && { stored: before };
  return await saveDraft(service, context, await draftChange(context, before));
}

async function draftChange({ prepare }: UpdateContext, before: StoredPurchase | undefined): Promise<Draft> {
  const update = await prepare(before);
  return { before, update, change: computePurchaseChange(before, update) };
}

/** Registers the payer, and writes the change with it. */
async function saveDraft(
  service: Service,
  { appName, purchaseId, part, now }: UpdateContext,
  { before, update, change: draft }: Draft,
): Promise<RecordPurchaseResult | undefined> {
  const registered = draft && (await registerCustomer(service, appName, draft, now));
  const change = registered ? computePurchaseChange(before, { ...update, payer: registered.payer }) : draft;
  if (!change) {
    if (part) await markPartHandled(service, appName, purchaseId, part);
    return before && { stored: before };
  }
  if (before && !part && isCheckOnly(change)) {
    await savePurchaseCheck(service, appName, change);
    return { stored: { ...change.after, updatedAt: before.updatedAt }, change };
  }
  await savePurchaseChange(service, appName, change, { part, registeredCustomer: registered?.customer });
  return { stored: change.after, change };
}

/**
 * The caller has read the marker of a whole notification, and the condition of its write fails if another worker has
 * handled it since.
 */
const needsMarkerRead = ({ isPartOfSeveral }: NotificationPart, attempt: number): boolean =>
  isPartOfSeveral || attempt > 1;

interface Registration {
  readonly payer: Payer;
  readonly customer?: string;
}

/**
 * Registers the customer of a purchase as a payer if the purchase is paid and its payments do not have a customer yet.
 */
async function registerCustomer(
  service: Service,
  appName: string,
  draft: PurchaseChange,
  now: EpochMillis,
): Promise<Registration | undefined> {
  const unregistered = findUnregisteredPayer(draft);
  if (!unregistered) return undefined;
  const { username, paidAt } = unregistered;
  const isGained = draft.gainedUsers.includes(username);
  const { purchaseId, sandbox: isSandbox } = draft.after.state.purchase;
  const firstPayment = { purchaseId, paidAt, now, isGained, isSandbox };
  const { payer, hasCustomer } = await registerPayer(service, appName, username, firstPayment);
  return { payer, ...(hasCustomer && { customer: username }) };
}

/** Finds the customer of a paid purchase whose payments do not have a customer yet. */
function findUnregisteredPayer({ after: { state, entitledUsers } }: PurchaseChange) {
  const [username] = entitledUsers;
  const payment = findFirstPayment(state);
  const hasCustomer = state.transactions.some(({ figures }) => figures?.customerSince !== undefined);
  return username === undefined || !payment || hasCustomer ? undefined : { username, paidAt: payment.purchaseDate };
}
