import { defined } from '../../defined.ts';
import type { Observation } from '../../purchases/observation.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import { afterPeriod } from './billing-period.ts';
import type { Line } from './lines.ts';
import { latestOf, type StoreTransaction } from './store-transaction.ts';
import { subscriptionState } from './subscription-state.ts';

/** What the request tells of its product, for what Apple does not say. */
export interface Hints {
  readonly productId?: string;
  readonly productType?: NonNullable<Purchase['productType']>;
  readonly priceMicros?: number;
  readonly currency?: string;
  /** How long the product lasts when it is a non-renewing subscription, as an ISO 8601 duration. */
  readonly period?: string;
}

const id = (native: string): string => prefixed('store_a', native);

/** The purchase that a line is, with all of its transactions. */
export function observationOf(line: Line, hints: Hints, canRefresh: boolean): Observation {
  const own = line.latest.productId === hints.productId ? withoutLength(line.latest, hints) : {};
  const transactions = line.transactions.map((transaction) => transactionOf(transaction, line, own));
  return {
    asOf: line.asOf,
    purchase: purchaseOf(line, own),
    transactions,
    userTokens: userTokensOf(line),
    ...(canRefresh && { refreshToken: refreshTokenOf(line, own) }),
  };
}

/** Every product may come with a billing period, but only of non-renewing subscriptions Apple does not know the end. */
function withoutLength({ productType }: StoreTransaction, hints: Hints): Hints {
  if ((productType ?? hints.productType) === 'non renewing subscription') return hints;
  const { period: _period, ...others } = hints;
  return others;
}

function purchaseOf(line: Line, hints: Hints): Purchase {
  const { latest, originalTransactionId } = line;
  const { transactionId, productId, sandbox, quantity, discountId, isShared, isTrial, isIntro } = latest;
  const isRenewal = latest.transactionId !== originalTransactionId && latest.expiresDate !== undefined;
  const { isReportedAmount: _isReported, ...amount } = amountOf(latest, line, hints);
  return {
    purchaseId: id(originalTransactionId),
    transactionId: id(lastKept(line)?.transactionId ?? transactionId),
    productId: id(productId),
    platform: 'store_a',
    sandbox,
    purchaseDate: firstDate(line),
    ...defined({
      productType: latest.productType ?? hints.productType,
      offerId: offerIdOf(latest),
      lastRenewalDate: isRenewal ? latest.purchaseDate : undefined,
      expirationDate: lengthEnd(latest, hints.period),
      isTrialPeriod: isTrial,
      isIntroPeriod: isIntro,
      discountId,
      quantity,
      isSharedPurchase: isShared,
    }),
    ...subscriptionState(line),
    ...amount,
  };
}

function transactionOf(transaction: StoreTransaction, line: Line, hints: Hints): Transaction {
  return {
    transactionId: id(transaction.transactionId),
    purchaseId: id(line.originalTransactionId),
    productId: id(transaction.productId),
    platform: 'store_a',
    sandbox: transaction.sandbox,
    purchaseDate: transaction.purchaseDate,
    ...defined({
      offerId: offerIdOf(transaction),
      expirationDate:
        transaction.expiresDate ?? (transaction === line.latest ? lengthEnd(transaction, hints.period) : undefined),
      isTrialPeriod: transaction.isTrial,
      isIntroPeriod: transaction.isIntro,
      quantity: transaction.quantity,
      refundedAt: transaction.revokedAt,
    }),
    ...amountOf(transaction, line, hints),
  };
}

type Amount = Pick<Transaction, 'currency' | 'amountMicros' | 'isReportedAmount'>;

/** What was paid: nothing for a trial or by a family member; for a receipt without prices, what the client says. */
function amountOf(transaction: StoreTransaction, { latest }: Line, hints: Hints): Amount {
  const { currency = hints.currency, amountMicros, quantity = 1, isShared, isTrial, isIntro } = transaction;
  if (isShared) return defined({ currency, amountMicros: 0 });
  if (amountMicros !== undefined) return defined({ currency, amountMicros });
  if (isTrial) return defined({ currency, amountMicros: 0 });
  const { priceMicros } = hints;
  if (transaction !== latest || isIntro || priceMicros === undefined || currency === undefined) return {};
  return { currency, amountMicros: priceMicros * quantity, isReportedAmount: true };
}

/** The latest transaction that was not refunded: the one that a client still holds. */
function lastKept({ transactions }: Line): StoreTransaction | undefined {
  const [first, ...others] = transactions.filter(({ revokedAt }) => revokedAt === undefined);
  return first && latestOf([first, ...others]);
}

/** In the sandbox the first transaction may come before what is called the original date. */
const firstDate = ({ transactions }: Line): number =>
  Math.min(
    ...transactions.flatMap(({ purchaseDate, originalPurchaseDate = purchaseDate }) => [
      purchaseDate,
      originalPurchaseDate,
    ]),
  );

const offerIdOf = ({ productId, offerId }: StoreTransaction): string | undefined =>
  offerId === undefined ? undefined : `${id(productId)}#${offerId}`;

/** Apple knows no end of a non-renewing subscription; its length is the application's own. */
const lengthEnd = ({ purchaseDate }: StoreTransaction, period: string | undefined): number | undefined =>
  period === undefined ? undefined : afterPeriod(purchaseDate, period);

function userTokensOf({ transactions, status }: Line): string[] {
  const tokens = [...transactions, ...(status ? [status] : [])].flatMap(({ userToken }) => userToken ?? []);
  return [...new Set(tokens)];
}

function refreshTokenOf({ originalTransactionId, latest }: Line, { period }: Hints): Record<string, string> {
  const environment = latest.sandbox ? 'Sandbox' : 'Production';
  return { originalTransactionId, environment, ...defined({ period }) };
}
