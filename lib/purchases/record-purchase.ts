import type { AppExchangeRates } from '../money/app-exchange-rates.ts';
import { attachUsdRates, type ExchangeRates, type PaymentRates } from '../money/attach-usd-rates.ts';
import { omitUsdRate, pickUsdRate } from '../money/usd-conversion.ts';
import { retryOnConflict } from '../shared/retry.ts';
import type { EpochMillis } from '../shared/time.ts';
import { findFirstPayment } from './add-payment-figures.ts';
import type { Catalogue } from './catalogue.ts';
import type { EncryptedObservation, PurchaseState } from './merge.ts';
import type { Observation } from './observation.ts';
import type { PayerRepository } from './payer-repository.ts';
import type { Payer } from './payment-figures.ts';
import { isUnpaid, type Purchase } from './purchase.ts';
import {
  computePurchaseChange,
  isCheckOnly,
  type PurchaseChange,
  type PurchaseUpdate,
  type StoredPurchase,
} from './purchase-change.ts';
import type { NotificationPart, PurchaseRepository } from './purchase-repository.ts';
import { findGroup, selectPurchasesOfGroup } from './resubscription.ts';

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
 * Applies an update to a purchase and writes the change in one transaction. Idempotent for a notification part. A
 * validation that meets concurrent writers shares its claim, and the next writer applies all shared claims: the
 * attempts do not grow with the number of writers. Returns undefined if the purchase does not exist. Throws `Conflict`
 * if ten attempts, or 20 of a validation, met a concurrent writer.
 */
export type RecordPurchase = (
  appName: string,
  purchaseId: string,
  input: RecordPurchaseInput,
) => Promise<RecordPurchaseResult | undefined>;

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

/** The settings of an app that observations depend on. */
export type RecordingRules = Pick<PurchaseUpdate, 'catalogue' | 'unverifiedHours' | 'commissionRates'> & {
  readonly exchangeRates?: AppExchangeRates;
};

/** Lists the subscriptions that a customer owns. The cost must not grow with their number. */
type ListSubscriptions = (appName: string, username: string) => Promise<readonly Purchase[]>;

/** Creates the use case over the stored purchases, the exchange rates, the settings of the apps and the payers. */
export function createRecordPurchase(
  purchases: PurchaseRepository,
  exchangeRates: ExchangeRates,
  findRules: (appName: string) => Promise<RecordingRules | undefined>,
  listSubscriptions: ListSubscriptions,
  payers: PayerRepository,
): RecordPurchase {
  return async (appName, purchaseId, { observation, notificationPart: part, restates, ...update }) => {
    const encrypted = observation && (await purchases.encryptRefreshToken(appName, observation));
    const needsRules = observation || update.trigger === 'import' || update.renewalNotice || update.awaitsCredentials;
    const { exchangeRates: ofApp, ...rules } = needsRules ? ((await findRules(appName)) ?? {}) : {};
    const { catalogue } = rules;
    const rates = { ...exchangeRates, ofApp };
    const prepareUpdate = async (before: StoredPurchase | undefined): Promise<PurchaseUpdate> => {
      const replacedPurchase =
        isFirstPayment(before) && observation?.replacedPurchaseId
          ? await purchases.load(appName, observation.replacedPurchaseId)
          : undefined;
      const relatedPurchase =
        isFirstPayment(before) && !replacedPurchase && observation?.relatedPurchaseId
          ? await purchases.load(appName, observation.relatedPurchaseId)
          : undefined;
      const username = update.claim?.username ?? observation?.checkoutUsername ?? update.storeUser;
      const groupPurchases =
        isFirstPayment(before) && !replacedPurchase && username !== undefined && canResubscribe(observation, catalogue)
          ? selectPurchasesOfGroup(observation.purchase, await listSubscriptions(appName, username), catalogue)
          : undefined;
      return {
        ...update,
        ...rules,
        ...(encrypted && { observation: await convertAmounts(encrypted, before, rates) }),
        ...(restates && before && { restatedState: await convertState(before.state, rates) }),
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
          await purchases.shareClaim(appName, purchaseId, claim, update.now);
        }
        // Most validations and refreshes change nothing, so one read suffices for them.
        const isCheckedOnce = (update.trigger === 'validation' || update.trigger === 'refresh') && !part;
        const [found, isHandled] = await Promise.all([
          isCheckedOnce ? purchases.findStored(appName, purchaseId) : purchases.load(appName, purchaseId),
          part && needsMarkerRead(part, attempt) && purchases.isPartHandled(appName, purchaseId, part),
        ]);
        if (isHandled) return found && { stored: found };
        const foundUpdate = await prepareUpdate(found);
        const foundDraft = computePurchaseChange(found, foundUpdate);
        // The update of a check depends on the purchase item only, which is read as one, and is conditional on its
        // version.
        const isCheck =
          foundDraft !== undefined && isCheckOnly(foundDraft) && findUnregisteredPayer(foundDraft) === undefined;
        const isLoadedAgain = isCheckedOnce && found !== undefined && foundDraft !== undefined && !isCheck;
        const before = isLoadedAgain ? await purchases.load(appName, purchaseId, found) : found;
        const purchaseUpdate = isLoadedAgain ? await prepareUpdate(before) : foundUpdate;
        const draft = isLoadedAgain ? computePurchaseChange(before, purchaseUpdate) : foundDraft;
        const registered = draft && (await registerPayer(appName, draft, { payers, now: update.now }));
        const change = registered
          ? computePurchaseChange(before, { ...purchaseUpdate, payer: registered.payer })
          : draft;
        if (before && change && !part && isCheckOnly(change)) {
          await purchases.saveCheck(appName, change);
          return { stored: { ...change.after, updatedAt: before.updatedAt }, change };
        }
        const registeredCustomer = registered?.customer;
        if (change) await purchases.saveChange(appName, change, { part, registeredCustomer });
        else if (part) await purchases.markPartHandled(appName, purchaseId, part, update.now);
        return change ? { stored: change.after, change } : before && { stored: before };
      },
      update.trigger === 'validation' ? validationAttempts : undefined,
    );
  };
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
async function registerPayer(
  appName: string,
  draft: PurchaseChange,
  { payers, now }: { readonly payers: PayerRepository; readonly now: EpochMillis },
): Promise<Registration | undefined> {
  const unregistered = findUnregisteredPayer(draft);
  if (!unregistered) return undefined;
  const { username, paidAt } = unregistered;
  const isGained = draft.gainedUsers.includes(username);
  const { purchaseId, sandbox: isSandbox } = draft.after.state.purchase;
  const firstPayment = { purchaseId, paidAt, now, isGained, isSandbox };
  const { payer, hasCustomer } = await payers.register(appName, username, firstPayment);
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
export async function convertState(state: PurchaseState, rates: PaymentRates): Promise<PurchaseState> {
  const converted = await attachUsdRates(
    state.transactions.map(({ transaction }) => transaction),
    [],
    rates,
  );
  const transactions = state.transactions.map((observed, index) => ({
    ...observed,
    transaction: converted[index] ?? observed.transaction,
  }));
  const latest = converted.find(({ transactionId }) => transactionId === state.purchase.transactionId);
  return { ...state, purchase: { ...omitUsdRate(state.purchase), ...(latest && pickUsdRate(latest)) }, transactions };
}

async function convertAmounts(
  observation: EncryptedObservation,
  before: StoredPurchase | undefined,
  rates: PaymentRates,
): Promise<EncryptedObservation> {
  const storedTransactions = (before?.state.transactions ?? []).map(({ transaction }) => transaction);
  const transactions = await attachUsdRates(observation.transactions, storedTransactions, rates);
  return { ...observation, transactions };
}
