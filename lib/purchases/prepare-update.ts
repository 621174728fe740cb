import { findCachedApp } from '../apps/app-table.ts';
import { type Catalogue, findCatalogueProduct } from '../apps/catalogue.ts';
import { findCachedCatalogue } from '../apps/catalogue-table.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import { attachUsdRates } from '../money/attach-usd-rates.ts';
import type { AppExchangeRates } from '../money/rates.ts';
import { omitUsdRate, pickUsdRate } from '../money/usd-conversion.ts';
import type { EncryptedObservation, PurchaseState } from './merge.ts';
import type { Observation } from './observation.ts';
import { listRepresentativePurchases } from './owned-purchase-table.ts';
import { isUnpaid } from './purchase.ts';
import type { PurchaseUpdate } from './purchase-change.ts';
import { encryptRefreshToken, findStoredPurchase } from './purchase-table.ts';
import { findGroup, selectPurchasesOfGroup } from './resubscription.ts';
import type { NotificationPart, StoredPurchase } from './stored-purchase.ts';
import type { Transaction } from './transaction.ts';

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
  /** The payments are converted again, and their figures computed again with the rates of today. */
  readonly restates?: true;
  /** An import gives credits for new payments only if the operator requests it. */
  readonly withoutCredits?: true;
};

/** Completes an update with what depends on the stored purchase. Called for each attempt to write it. */
export type PrepareUpdate = (before: StoredPurchase | undefined) => Promise<PurchaseUpdate>;

/**
 * Encrypts the refresh token, reads the rules of the app, and returns the function that adds to an update what depends
 * on the stored purchase: the rates of its payments, and the purchases that its first payment replaces or resumes.
 */
export async function prepareUpdates(
  service: Service,
  appName: string,
  { observation, restates, withoutCredits, ...update }: Omit<RecordPurchaseInput, 'notificationPart'>,
): Promise<PrepareUpdate> {
  const encrypted = observation && (await encryptRefreshToken(service, appName, observation));
  const needsRules = observation || update.trigger === 'import' || update.renewalNotice || update.awaitsCredentials;
  const { exchangeRates: appRates, ...rules } = needsRules ? await findRules(service, appName) : {};
  const username = update.claim?.username ?? observation?.checkoutUsername ?? update.storeUser;
  const creditCatalogue = withoutCredits ? undefined : rules.catalogue;
  return async (before) => ({
    ...update,
    ...rules,
    ...(encrypted && {
      observation: await completePayments(service, encrypted, { before, appRates, creditCatalogue }),
    }),
    ...(restates && before && { restatedState: await convertState(service, before.state, appRates) }),
    ...(observation &&
      isFirstPayment(before) &&
      (await findEarlierPurchases(service, appName, { observation, username, catalogue: rules.catalogue }))),
  });
}

/** Finds the purchases that the first payment of a purchase can replace or resume. */
async function findEarlierPurchases(
  service: Service,
  appName: string,
  {
    observation,
    username,
    catalogue,
  }: { observation: Observation; username: string | undefined; catalogue: Catalogue | undefined },
): Promise<Pick<PurchaseUpdate, 'replacedPurchase' | 'relatedPurchase' | 'groupPurchases'>> {
  const { replacedPurchaseId, relatedPurchaseId, purchase } = observation;
  const replacedPurchase = replacedPurchaseId && (await findStoredPurchase(service, appName, replacedPurchaseId));
  if (replacedPurchase) return { replacedPurchase };
  const relatedPurchase = relatedPurchaseId && (await findStoredPurchase(service, appName, relatedPurchaseId));
  const canResubscribe = username !== undefined && !isUnpaid(purchase) && findGroup(catalogue, purchase) !== undefined;
  const groupPurchases =
    canResubscribe &&
    selectPurchasesOfGroup(
      purchase,
      await listRepresentativePurchases(service, appName, username, 'subscriptions'),
      catalogue,
    );
  return { ...(relatedPurchase && { relatedPurchase }), ...(groupPurchases && { groupPurchases }) };
}

/** The purchase is not stored, or its payment was pending. */
const isFirstPayment = (before: StoredPurchase | undefined): boolean =>
  !before || before.state.purchase.isPending === true;

type RecordingRules = Pick<PurchaseUpdate, 'catalogue' | 'unverifiedHours' | 'commissionRates'> & {
  readonly exchangeRates?: AppExchangeRates;
};

/** The settings of the app that observations depend on. */
async function findRules(service: Service, appName: string): Promise<RecordingRules> {
  const [app, catalogue] = await Promise.all([findCachedApp(service, appName), findCachedCatalogue(service, appName)]);
  const { unverifiedHours, commissionRates, exchangeRates } = app ?? {};
  return { ...omitUndefined({ catalogue, commissionRates, exchangeRates }), unverifiedHours };
}

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

interface PaymentContext {
  readonly before: StoredPurchase | undefined;
  readonly appRates: AppExchangeRates | undefined;
  /** The catalogue by which new payments give credits. Undefined if they do not. */
  readonly creditCatalogue: Catalogue | undefined;
}

/** Adds to the payments what they are in US dollars, and the credits that they give. */
async function completePayments(
  service: Service,
  observation: EncryptedObservation,
  { before, appRates, creditCatalogue }: PaymentContext,
): Promise<EncryptedObservation> {
  const stored = (before?.state.transactions ?? []).map(({ transaction }) => transaction);
  const payments = attachCredits(observation.transactions, { stored, catalogue: creditCatalogue });
  return { ...observation, transactions: await attachUsdRates(service, payments, { stored, appRates }) };
}

/**
 * Adds what each payment gives to payments that are recorded for the first time. A stored payment keeps what it gives,
 * or gives nothing: the catalogue of its time decides.
 */
export function attachCredits(
  transactions: readonly Transaction[],
  { stored, catalogue }: { readonly stored: readonly Transaction[]; readonly catalogue: Catalogue | undefined },
): readonly Transaction[] {
  const knownIds = new Set(stored.flatMap(({ transactionId, saleId }) => [transactionId, saleId]));
  return transactions.map((transaction) => {
    const { transactionId, saleId = transactionId, productId } = transaction;
    const { credits, expires = 'never' } = findCatalogueProduct(catalogue, productId) ?? {};
    if (!credits || knownIds.has(transactionId) || knownIds.has(saleId)) return transaction;
    const units = Object.entries(credits).map(([credit, perUnit]) => [credit, { perUnit, expires }]);
    return { ...transaction, credits: Object.fromEntries(units) };
  });
}
