import { channel } from 'node:diagnostics_channel';
import { findCachedApp, findCachedCatalogue } from '../apps/app-cache.ts';
import type { Catalogue } from '../apps/catalogue.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { retryOnConflict } from '../foundation/retry.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { AppExchangeRates } from '../money/app-exchange-rates.ts';
import { attachUsdRates } from '../money/attach-usd-rates.ts';
import { omitUsdRate, pickUsdRate } from '../money/usd-conversion.ts';
import { findFirstPayment } from './add-payment-figures.ts';
import { omitErasedNames } from './erased-names.ts';
import type { EncryptedObservation, PurchaseState } from './merge.ts';
import type { Observation } from './observation.ts';
import { listRepresentativePurchases } from './owned-purchase-table.ts';
import { registerPayer } from './payer-table.ts';
import type { Payer } from './payment-figures.ts';
import { isUnpaid } from './purchase.ts';
import {
  computePurchaseChange,
  isCheckOnly,
  type PurchaseChange,
  type PurchaseUpdate,
  type StoredPurchase,
} from './purchase-change.ts';
import {
  encryptRefreshToken,
  findStoredPurchase,
  isPartHandled,
  loadPurchase,
  markPartHandled,
  savePurchaseChange,
  savePurchaseCheck,
  shareClaim,
} from './purchase-table.ts';
import { findGroup, selectPurchasesOfGroup } from './resubscription.ts';
import type { NotificationPart } from './stored-purchase.ts';

/** An update of a purchase as adapters and API clients deliver it. */
export type RecordPurchaseInput = Omit<
  PurchaseUpdate,
  | 'observation'
  | 'replacedPurchase'
  | 'relatedPurchase'
  | 'groupPurchases'
  | 'catalogue'
  | 'unverifiedHours'
  | 'commissionRates'
  | 'restatedState'
  | 'payer'
> & {
  readonly observation?: Observation;
  /** The store notification that caused the update. It is marked as handled in the transaction of the update. */
  readonly notificationPart?: NotificationPart;
  /** Whether the payments are converted again, and their figures computed again with the rates of today. */
  readonly restates?: true;
};

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

type RecordingRules = Pick<PurchaseUpdate, 'catalogue' | 'unverifiedHours' | 'commissionRates'> & {
  readonly exchangeRates?: AppExchangeRates;
};

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
  const result = await applyUpdate(service, appName, purchaseId, await omitErasedNames(service, appName, input));
  if (result?.change) purchaseChanges.publish({ service, appName, change: result.change } satisfies PublishedChange);
  return result;
}

async function applyUpdate(
  service: Service,
  appName: string,
  purchaseId: string,
  { observation, notificationPart: part, restates, ...update }: RecordPurchaseInput,
): Promise<RecordPurchaseResult | undefined> {
  const encrypted = observation && (await encryptRefreshToken(service, appName, observation));
  const needsRules = observation || update.trigger === 'import' || update.renewalNotice || update.awaitsCredentials;
  const { exchangeRates: appRates, ...rules } = needsRules ? await findRules(service, appName) : {};
  const { catalogue } = rules;
  const prepareUpdate = async (before: StoredPurchase | undefined): Promise<PurchaseUpdate> => {
    const replacedPurchase =
      isFirstPayment(before) && observation?.replacedPurchaseId
        ? await loadPurchase(service, appName, observation.replacedPurchaseId)
        : undefined;
    const relatedPurchase =
      isFirstPayment(before) && !replacedPurchase && observation?.relatedPurchaseId
        ? await loadPurchase(service, appName, observation.relatedPurchaseId)
        : undefined;
    const username = update.claim?.username ?? observation?.checkoutUsername ?? update.storeUser;
    const groupPurchases =
      isFirstPayment(before) && !replacedPurchase && username !== undefined && canResubscribe(observation, catalogue)
        ? selectPurchasesOfGroup(
            observation.purchase,
            await listRepresentativePurchases(service, appName, username, 'subscriptions'),
            catalogue,
          )
        : undefined;
    return {
      ...update,
      ...rules,
      ...(encrypted && { observation: await convertAmounts(service, encrypted, { before, appRates }) }),
      ...(restates && before && { restatedState: await convertState(service, before.state, appRates) }),
      ...(replacedPurchase && { replacedPurchase }),
      ...(relatedPurchase && { relatedPurchase }),
      ...(groupPurchases && { groupPurchases }),
    };
  };
  return await retryOnConflict(
    async (attempt) => {
      const { claim } = update;
      // A shared claim has the time of its writer, so an imported claim with an earlier time is not shared.
      if (attempt === sharingAttempt && claim?.source === 'validation' && claim.claimedAt === undefined) {
        await shareClaim(service, appName, purchaseId, claim, update.now);
      }
      // Most validations and refreshes change nothing, so one read suffices for them.
      const isCheckedOnce = (update.trigger === 'validation' || update.trigger === 'refresh') && !part;
      const [found, isHandled] = await Promise.all([
        isCheckedOnce ? findStoredPurchase(service, appName, purchaseId) : loadPurchase(service, appName, purchaseId),
        part && needsMarkerRead(part, attempt) && isPartHandled(service, appName, purchaseId, part),
      ]);
      if (isHandled) return found && { stored: found };
      const foundUpdate = await prepareUpdate(found);
      const foundDraft = computePurchaseChange(found, foundUpdate);
      // The update of a check depends on the purchase item only, which is read as one, and is conditional on its
      // version.
      const isCheck =
        foundDraft !== undefined && isCheckOnly(foundDraft) && findUnregisteredPayer(foundDraft) === undefined;
      const isLoadedAgain = isCheckedOnce && found !== undefined && foundDraft !== undefined && !isCheck;
      const before = isLoadedAgain ? await loadPurchase(service, appName, purchaseId, found) : found;
      const purchaseUpdate = isLoadedAgain ? await prepareUpdate(before) : foundUpdate;
      const draft = isLoadedAgain ? computePurchaseChange(before, purchaseUpdate) : foundDraft;
      const registered = draft && (await registerCustomer(service, appName, draft, update.now));
      const change = registered ? computePurchaseChange(before, { ...purchaseUpdate, payer: registered.payer }) : draft;
      if (before && change && !part && isCheckOnly(change)) {
        await savePurchaseCheck(service, appName, change);
        return { stored: { ...change.after, updatedAt: before.updatedAt }, change };
      }
      const registeredCustomer = registered?.customer;
      if (change) await savePurchaseChange(service, appName, change, { part, registeredCustomer });
      else if (part) await markPartHandled(service, appName, purchaseId, part, update.now);
      return change ? { stored: change.after, change } : before && { stored: before };
    },
    update.trigger === 'validation' ? validationAttempts : undefined,
  );
}

/** The settings of the app that observations depend on. */
async function findRules(service: Service, appName: string): Promise<RecordingRules> {
  const [app, catalogue] = await Promise.all([findCachedApp(service, appName), findCachedCatalogue(service, appName)]);
  const { unverifiedHours, commissionRates, exchangeRates } = app ?? {};
  return { ...omitUndefined({ catalogue, commissionRates, exchangeRates }), unverifiedHours };
}

/**
 * Whether the marker of a handled notification is read. The caller has read that of a whole notification, and the
 * condition of its write fails if another worker has handled it since.
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

/** Whether the next observation can be the first payment: the purchase is not stored, or its payment was pending. */
const isFirstPayment = (before: StoredPurchase | undefined): boolean =>
  !before || before.state.purchase.isPending === true;

/** Whether the reason of a new purchase depends on other purchases of its customer. */
const canResubscribe = (
  observation: Observation | undefined,
  catalogue: Catalogue | undefined,
): observation is Observation =>
  observation !== undefined &&
  !isUnpaid(observation.purchase) &&
  findGroup(catalogue, observation.purchase) !== undefined;

/** Converts the stored payments whose rate was missing or is not final. */
export async function convertState(
  service: Service,
  state: PurchaseState,
  appRates: AppExchangeRates | undefined,
): Promise<PurchaseState> {
  const payments = state.transactions.map(({ transaction }) => transaction);
  const converted = await attachUsdRates(service, payments, { stored: [], appRates });
  const transactions = state.transactions.map((observed, index) => ({
    ...observed,
    transaction: converted[index] ?? observed.transaction,
  }));
  const latest = converted.find(({ transactionId }) => transactionId === state.purchase.transactionId);
  return { ...state, purchase: { ...omitUsdRate(state.purchase), ...(latest && pickUsdRate(latest)) }, transactions };
}

async function convertAmounts(
  service: Service,
  observation: EncryptedObservation,
  { before, appRates }: { before: StoredPurchase | undefined; appRates: AppExchangeRates | undefined },
): Promise<EncryptedObservation> {
  const stored = (before?.state.transactions ?? []).map(({ transaction }) => transaction);
  const transactions = await attachUsdRates(service, observation.transactions, { stored, appRates });
  return { ...observation, transactions };
}
