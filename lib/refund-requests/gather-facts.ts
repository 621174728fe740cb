import { toAmountUsd } from '../money/usd-amount.ts';
import type { OwnedPurchaseRepository } from '../purchases/owned-purchase-repository.ts';
import { isSubscription, type Purchase } from '../purchases/purchase.ts';
import type { PurchaseRepository } from '../purchases/purchase-repository.ts';
import { listRefundedAmounts } from '../purchases/refunds.ts';
import type { Transaction } from '../purchases/transaction.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { RefundRequest, RefundRequestRepository } from './refund-request-repository.ts';

/** What the service stores about a payment to refund and its customer. */
export interface RefundFacts {
  /** The entitled customer. Undefined for a purchase that no customer has claimed. */
  readonly username?: string;
  readonly productId?: string;
  readonly sandbox: boolean;
  /** Whether a customer has claimed the purchase, which validates it. */
  readonly isDelivered: boolean;
  readonly isConsumed: boolean;
  /** Used part of the period of a subscription, in thousandths of a percent. */
  readonly usedShare?: number;
  /** Whether the customer had a trial of the product. */
  readonly hadTrial: boolean;
  /** Date of the customer's first purchase. */
  readonly customerSince?: EpochMillis;
  /** Purchases of the customer in the sums, at most 100, and their sums in US dollars. */
  readonly purchaseCount: number;
  readonly paidUsd: number;
  readonly refundedUsd: number;
  /** When the customer consented to statements about refunds. */
  readonly consentedAt?: EpochMillis;
}

export interface FactDeps {
  readonly ownedPurchases: Pick<OwnedPurchaseRepository, 'listTransactions'>;
  readonly purchases: Pick<PurchaseRepository, 'find' | 'listTransactions'>;
  readonly refundRequests: Pick<RefundRequestRepository, 'findConsent'>;
}

/** Transactions in the sums of a customer. */
const maxTransactions = 500;

/** Reads the facts about a request at `now`. */
export async function gatherFacts(
  appName: string,
  { purchaseId, transactionId, sandbox, productId }: RefundRequest,
  { now, deps }: { readonly now: EpochMillis; readonly deps: FactDeps },
): Promise<RefundFacts> {
  const [stored, own] = await Promise.all([
    deps.purchases.find(appName, purchaseId),
    deps.purchases.listTransactions(appName, [purchaseId]),
  ]);
  const [username] = stored?.entitledUsers ?? [];
  const [all, consentedAt] =
    username === undefined
      ? [own, undefined]
      : await Promise.all([
          deps.ownedPurchases.listTransactions(appName, username, { skip: 0, limit: maxTransactions }),
          deps.refundRequests.findConsent(appName, username),
        ]);
  const payment = own.find((transaction) => transaction.transactionId === transactionId);
  const dates = all.map(({ purchaseDate }) => purchaseDate);
  return {
    ...omitUndefined({
      username,
      productId: payment?.productId ?? stored?.purchase.productId ?? productId,
      usedShare: stored && payment && computeUsedShare(stored.purchase, payment, now),
      customerSince: dates.length > 0 ? Math.min(...dates) : undefined,
      consentedAt,
    }),
    sandbox: stored?.purchase.sandbox ?? sandbox,
    isDelivered: username !== undefined,
    isConsumed: stored?.purchase.isConsumed === true,
    hadTrial: own.some(({ isTrialPeriod }) => isTrialPeriod === true),
    purchaseCount: new Set(all.map((transaction) => transaction.purchaseId)).size,
    ...sumUsd(all),
  };
}

const fullShare = 100_000;

function computeUsedShare(
  purchase: Purchase,
  { purchaseDate, expirationDate = purchase.expirationDate }: Transaction,
  now: EpochMillis,
): number | undefined {
  if (!isSubscription(purchase) || expirationDate === undefined || expirationDate <= purchaseDate) return undefined;
  const share = Math.round(((now - purchaseDate) / (expirationDate - purchaseDate)) * fullShare);
  return Math.min(Math.max(share, 0), fullShare);
}

function sumUsd(transactions: readonly Transaction[]): Pick<RefundFacts, 'paidUsd' | 'refundedUsd'> {
  const paid = transactions.map((transaction) => toAmountUsd(transaction) ?? 0);
  const refunded = transactions.flatMap(listRefundedAmounts).map(({ amountUsd = 0 }) => amountUsd);
  return { paidUsd: sumCents(paid), refundedUsd: sumCents(refunded) };
}

const sumCents = (amounts: readonly number[]): number =>
  amounts.reduce((sum, amount) => sum + Math.round(amount * 100), 0) / 100;
