import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { withPlatform } from '../../shared/platform.ts';
import { addBillingPeriods } from '../billing-period.ts';
import type { TransactionGroup } from './group-by-purchase.ts';
import { findLatestTransaction, type StoreTransaction } from './store-transaction.ts';
import { toSubscriptionState } from './subscription-state.ts';

/** What the request tells of its product, for what Apple does not say. */
export interface RequestHints {
  readonly productId?: string;
  readonly productType?: NonNullable<Purchase['productType']>;
  readonly priceMicros?: number;
  readonly currency?: string;
  /** How long the product lasts when it is a non-renewing subscription, as an ISO 8601 duration. */
  readonly period?: string;
}

const toPurchaseId = (native: string): string => withPlatform('store_a', native);

/** The purchase that a line is, with all of its transactions. */
export function toObservation(line: TransactionGroup, hints: RequestHints, canRefresh: boolean): Observation {
  const own = line.latest.productId === hints.productId ? omitPeriod(line.latest, hints) : {};
  const transactions = line.transactions.map((transaction) => toTransaction(transaction, line, own));
  return {
    asOf: line.asOf,
    purchase: toPurchase(line, own),
    transactions,
    userAliases: listUserAliases(line),
    ...(canRefresh && { refreshToken: buildRefreshToken(line, own) }),
  };
}

/** Every product may come with a billing period, but only of non-renewing subscriptions Apple does not know the end. */
function omitPeriod({ productType }: StoreTransaction, hints: RequestHints): RequestHints {
  if ((productType ?? hints.productType) === 'non renewing subscription') return hints;
  const { period: _period, ...others } = hints;
  return others;
}

function toPurchase(line: TransactionGroup, hints: RequestHints): Purchase {
  const { latest, originalTransactionId } = line;
  const { transactionId, productId, sandbox, quantity, discountId, isShared, isTrial, isIntro } = latest;
  const isRenewal = latest.transactionId !== originalTransactionId && latest.expiresDate !== undefined;
  const { isReportedAmount: _isReported, ...amount } = toAmount(latest, line, hints);
  return {
    purchaseId: toPurchaseId(originalTransactionId),
    transactionId: toPurchaseId(findLatestUnrefunded(line)?.transactionId ?? transactionId),
    productId: toPurchaseId(productId),
    platform: 'store_a',
    sandbox,
    purchaseDate: findFirstDate(line),
    ...omitUndefined({
      productType: latest.productType ?? hints.productType,
      offerId: toOfferId(latest),
      lastRenewalDate: isRenewal ? latest.purchaseDate : undefined,
      expirationDate: computePeriodEnd(latest, hints.period),
      isTrialPeriod: isTrial,
      isIntroPeriod: isIntro,
      discountId,
      quantity,
      isSharedPurchase: isShared,
    }),
    ...toSubscriptionState(line),
    ...amount,
  };
}

function toTransaction(transaction: StoreTransaction, line: TransactionGroup, hints: RequestHints): Transaction {
  return {
    transactionId: toPurchaseId(transaction.transactionId),
    purchaseId: toPurchaseId(line.originalTransactionId),
    productId: toPurchaseId(transaction.productId),
    platform: 'store_a',
    sandbox: transaction.sandbox,
    purchaseDate: transaction.purchaseDate,
    ...omitUndefined({
      offerId: toOfferId(transaction),
      expirationDate:
        transaction.expiresDate ??
        (transaction === line.latest ? computePeriodEnd(transaction, hints.period) : undefined),
      isTrialPeriod: transaction.isTrial,
      isIntroPeriod: transaction.isIntro,
      quantity: transaction.quantity,
      refundedAt: transaction.revokedAt,
    }),
    ...toAmount(transaction, line, hints),
  };
}

type Amount = Pick<Transaction, 'currency' | 'amountMicros' | 'isReportedAmount'>;

/** What was paid: nothing for a trial or by a family member; for a receipt without prices, what the client says. */
function toAmount(transaction: StoreTransaction, { latest }: TransactionGroup, hints: RequestHints): Amount {
  const { currency = hints.currency, amountMicros, quantity = 1, isShared, isTrial, isIntro } = transaction;
  if (isShared) return omitUndefined({ currency, amountMicros: 0 });
  if (amountMicros !== undefined) return omitUndefined({ currency, amountMicros });
  if (isTrial) return omitUndefined({ currency, amountMicros: 0 });
  const { priceMicros } = hints;
  if (transaction !== latest || isIntro || priceMicros === undefined || currency === undefined) return {};
  return { currency, amountMicros: priceMicros * quantity, isReportedAmount: true };
}

/** The latest transaction that was not refunded: the one that a client still holds. */
function findLatestUnrefunded({ transactions }: TransactionGroup): StoreTransaction | undefined {
  const [first, ...others] = transactions.filter(({ revokedAt }) => revokedAt === undefined);
  return first && findLatestTransaction([first, ...others]);
}

/** In the sandbox the first transaction may come before what is called the original date. */
const findFirstDate = ({ transactions }: TransactionGroup): number =>
  Math.min(
    ...transactions.flatMap(({ purchaseDate, originalPurchaseDate = purchaseDate }) => [
      purchaseDate,
      originalPurchaseDate,
    ]),
  );

const toOfferId = ({ productId, offerId }: StoreTransaction): string | undefined =>
  offerId === undefined ? undefined : `${toPurchaseId(productId)}#${offerId}`;

/** Apple knows no end of a non-renewing subscription; its length is the application's own. */
const computePeriodEnd = ({ purchaseDate }: StoreTransaction, period: string | undefined): number | undefined =>
  period === undefined ? undefined : addBillingPeriods(purchaseDate, period);

function listUserAliases({ transactions, status }: TransactionGroup): string[] {
  const tokens = [...transactions, ...(status ? [status] : [])].flatMap(({ userToken }) => userToken ?? []);
  return [...new Set(tokens)];
}

function buildRefreshToken(
  { originalTransactionId, latest }: TransactionGroup,
  { period }: RequestHints,
): Record<string, string> {
  const environment = latest.sandbox ? 'Sandbox' : 'Production';
  return { originalTransactionId, environment, ...omitUndefined({ period }) };
}
