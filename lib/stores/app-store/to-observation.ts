import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { countUnits, type TransactionGroup } from './group-by-purchase.ts';
import type { StoreTransaction } from './store-transaction.ts';
import { toSubscriptionState } from './subscription-state.ts';

const toPrefixedId = (id: string): string => withPlatform(platformTokens.appStore, id);

/** Maps the transactions of one purchase. */
export function toObservation(group: TransactionGroup, { requestDetails, canRefresh }: MappingContext): Observation {
  const details = group.latest.productId === requestDetails.productId ? requestDetails : {};
  return {
    asOf: group.asOf,
    ...(group.isInferred && { isInferred: group.isInferred }),
    transactionsAsOf: group.transactionsAsOf,
    isOrderedByTransaction: true,
    purchase: toPurchase(group, details),
    transactions: group.transactions.map((transaction) => toTransaction(transaction, group, details)),
    userAliases: listUserAliases(group),
    ...(canRefresh && { refreshToken: buildRefreshToken(group) }),
  };
}

function toPurchase(group: TransactionGroup, details: RequestDetails): Purchase {
  const { latest, originalTransactionId } = group;
  const { transactionId, productId, sandbox, discountId, isShared, isTrial, isIntro } = latest;
  const { isReportedAmount: _isReported, ...amount } = toAmount(latest, group, details);
  return {
    purchaseId: toPrefixedId(originalTransactionId),
    transactionId: toPrefixedId(transactionId),
    productId: toPrefixedId(productId),
    platform: platformTokens.appStore,
    sandbox,
    purchaseDate: findFirstDate(group),
    ...omitUndefined({
      productType: latest.productType ?? details.productType,
      offerId: toOfferId(latest),
      isTrialPeriod: isTrial,
      isIntroPeriod: isIntro,
      discountId,
      quantity: countUnits(group),
      isSharedPurchase: isShared,
      appTransactionId: latest.appTransactionId,
    }),
    ...toSubscriptionState(group),
    ...amount,
  };
}

function toTransaction(transaction: StoreTransaction, group: TransactionGroup, details: RequestDetails): Transaction {
  const { transactionId, productId, sandbox, purchaseDate, expiresDate } = transaction;
  return {
    transactionId: toPrefixedId(transactionId),
    purchaseId: toPrefixedId(group.originalTransactionId),
    productId: toPrefixedId(productId),
    platform: platformTokens.appStore,
    sandbox,
    purchaseDate,
    ...toSaleId(transaction),
    ...omitUndefined({
      offerId: toOfferId(transaction),
      expirationDate: expiresDate,
      isRenewal: transaction.isSeatAddition ? false : transaction.isRenewal,
      isTrialPeriod: transaction.isTrial,
      isIntroPeriod: transaction.isIntro,
      isReplaced: transaction.replacedAt === undefined ? undefined : true,
      quantity: transaction.quantity,
      storefront: transaction.storefront,
      offerType: transaction.offerType,
      offerPeriod: transaction.offerPeriod,
      refundedAt: transaction.refundedAt,
      partialRefunds: transaction.partialRefunds,
    }),
    ...toAmount(transaction, group, details),
  };
}

/** A sale that is the whole purchase has the id of the purchase. */
const toSaleId = ({ saleId, originalTransactionId }: StoreTransaction): Pick<Transaction, 'saleId'> =>
  saleId === undefined ? {} : { saleId: saleId === originalTransactionId ? toPrefixedId(saleId) : saleId };

type Amount = Pick<Transaction, 'currency' | 'amountMicros' | 'isReportedAmount'>;

/**
 * Trials and shared purchases cost nothing. Receipts contain no prices: the amount of the request counts for `latest`,
 * unless it has an offer with another price.
 */
function toAmount(transaction: StoreTransaction, { latest }: TransactionGroup, details: RequestDetails): Amount {
  const { currency = details.currency, amountMicros, quantity = 1, isShared, isTrial, isIntro, offerId } = transaction;
  if (isShared) return omitUndefined({ currency, amountMicros: 0 });
  if (amountMicros !== undefined) return omitUndefined({ currency, amountMicros });
  if (isTrial) return omitUndefined({ currency, amountMicros: 0 });
  const { priceMicros } = details;
  if (transaction !== latest || isIntro || offerId || priceMicros === undefined || currency === undefined) return {};
  return { currency, amountMicros: priceMicros * quantity, isReportedAmount: true };
}

/** In the sandbox, `purchaseDate` of the first transaction can be earlier than `originalPurchaseDate`. */
const findFirstDate = ({ transactions }: TransactionGroup): EpochMillis =>
  Math.min(
    ...transactions.flatMap(({ purchaseDate, originalPurchaseDate = purchaseDate }) => [
      purchaseDate,
      originalPurchaseDate,
    ]),
  );

const toOfferId = ({ productId, offerId }: StoreTransaction): string | undefined =>
  offerId === undefined ? undefined : `${toPrefixedId(productId)}#${offerId}`;

function listUserAliases({ transactions, status }: TransactionGroup): string[] {
  const aliases = [...transactions, ...(status ? [status] : [])].flatMap(({ userAlias }) => userAlias ?? []);
  return [...new Set(aliases)];
}

const buildRefreshToken = ({ originalTransactionId, latest }: TransactionGroup): Record<string, string> => ({
  originalTransactionId,
  environment: latest.sandbox ? 'Sandbox' : 'Production',
});

/** Input for the mapping from App Store transactions to observations, in addition to the transactions. */
export interface MappingContext {
  readonly requestDetails: RequestDetails;
  /** Observations get a refresh token. A refresh requires an App Store Server API key. */
  readonly canRefresh: boolean;
}

/** Details of the requested product that Apple does not report. They apply to the product `productId` only. */
export interface RequestDetails {
  /** Without prefix. */
  readonly productId?: string;
  readonly productType?: NonNullable<Purchase['productType']>;
  readonly priceMicros?: number;
  readonly currency?: string;
}
