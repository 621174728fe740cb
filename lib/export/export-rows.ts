import * as v from 'valibot';
import { CreditTotals } from '../api/credit-totals.ts';
import { DateTime, PlatformToken, ProductType } from '../api/schemas.ts';
import type { CreditAccount } from '../credits/credit-account.ts';
import { toCreditTotals } from '../credits/to-records.ts';
import type { StoredCustomer } from '../customer-data/customer-data-table.ts';
import { CustomerInfo } from '../customers/contract.ts';
import { toCustomerInfo } from '../customers/customer-info.ts';
import { EntitlementRecord } from '../entitlements/contract.ts';
import { type Entitlements, toEntitlementRecords } from '../entitlements/entitlements.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { type EpochMillis, toIsoSeconds } from '../foundation/time.ts';
import type { Purchase } from '../purchases/purchase.ts';
import { PurchaseDetails } from '../purchases/purchase-contract.ts';
import { listRefundedAmounts } from '../purchases/refunds.ts';
import type { StoredPurchase } from '../purchases/stored-purchase.ts';
import { toPurchaseDetails, toTransactionRecord } from '../purchases/to-records.ts';
import type { Transaction } from '../purchases/transaction.ts';
import { TransactionRecord } from '../purchases/transaction-contract.ts';

/** Epoch milliseconds at which the row was read. The row with the highest `seq` of a key is the newest. */
const seq = v.number();

/** A row of `purchases`. Key: `purchaseId`. */
export const ExportedPurchase = v.strictObject({
  seq,
  ...PurchaseDetails.entries,
  productType: v.exactOptional(ProductType),
  /** When the store ended the purchase by refund, revocation or replacement. */
  endDate: v.exactOptional(DateTime),
  createdAt: DateTime,
  updatedAt: DateTime,
});
export type ExportedPurchase = v.InferOutput<typeof ExportedPurchase>;

/** A refund of a transaction or of a part of it. Unknown amounts are absent. */
const ExportedRefund = v.strictObject({
  date: DateTime,
  amountMicros: v.exactOptional(v.number()),
  amountUSD: v.exactOptional(v.number()),
});

/** A row of `transactions`. Key: `purchaseId` with `transactionId`. */
export const ExportedTransaction = v.strictObject({
  seq,
  ...TransactionRecord.entries,
  /** Start of the paid period if the payment was made more than an hour earlier or later. */
  periodStartDate: v.exactOptional(DateTime),
  storefront: v.exactOptional(v.string()),
  /** The developer's part of the payment after fees, tax and refunds, if the store reports it. */
  storeProceedsMicros: v.exactOptional(v.number()),
  offerType: v.exactOptional(v.string()),
  offerPeriod: v.exactOptional(v.string()),
  refunds: v.array(ExportedRefund),
});
export type ExportedTransaction = v.InferOutput<typeof ExportedTransaction>;

/** A row of `customers`. Key: `applicationUsername`. */
export const ExportedCustomer = v.strictObject({
  seq,
  applicationUsername: v.string(),
  createdAt: DateTime,
  ...CustomerInfo.entries,
});
export type ExportedCustomer = v.InferOutput<typeof ExportedCustomer>;

/** A row of `entitlements`. Key: `applicationUsername` with `entitlement`. */
export const ExportedEntitlement = v.strictObject({
  seq,
  applicationUsername: v.string(),
  entitlement: v.string(),
  isActive: EntitlementRecord.entries.isActive,
  since: EntitlementRecord.entries.since,
  until: EntitlementRecord.entries.until,
  willRenew: EntitlementRecord.entries.willRenew,
  isSandbox: EntitlementRecord.entries.isSandbox,
  isInGracePeriod: EntitlementRecord.entries.isInGracePeriod,
  /** Absent, like the ids, after the loss of the purchase to another customer. */
  sourceType: v.exactOptional(v.picklist(['purchase', 'grant'])),
  purchaseId: v.exactOptional(v.string()),
  platform: v.exactOptional(PlatformToken),
  productId: v.exactOptional(v.string()),
  grantId: v.exactOptional(v.string()),
});
export type ExportedEntitlement = v.InferOutput<typeof ExportedEntitlement>;

/** A row of `credits`. Key: `applicationUsername` with `isSandbox` and `credit`. */
export const ExportedCredit = v.strictObject({
  seq,
  applicationUsername: v.string(),
  isSandbox: v.boolean(),
  credit: v.string(),
  ...CreditTotals.entries,
});
export type ExportedCredit = v.InferOutput<typeof ExportedCredit>;

/** Returns the row of a purchase that was read at `now`. */
export function toExportedPurchase(stored: StoredPurchase, now: EpochMillis): ExportedPurchase {
  const { purchase } = stored.state;
  return {
    seq: now,
    ...toPurchaseDetails(purchase, stored.entitledUsers, { now }),
    ...omitUndefined({
      productType: purchase.productType,
      endDate: purchase.endedAt === undefined ? undefined : toIsoSeconds(purchase.endedAt),
    }),
    createdAt: toIsoSeconds(stored.createdAt),
    updatedAt: toIsoSeconds(stored.updatedAt),
  };
}

/** Returns the row of a transaction that was read at `now`. */
export const toExportedTransaction = (
  transaction: Transaction,
  purchase: Purchase,
  now: EpochMillis,
): ExportedTransaction => ({
  seq: now,
  ...toTransactionRecord(transaction, purchase),
  ...omitUndefined({
    periodStartDate: transaction.periodStartDate === undefined ? undefined : toIsoSeconds(transaction.periodStartDate),
    storefront: transaction.storefront,
    storeProceedsMicros: transaction.storeProceedsMicros,
    offerType: transaction.offerType,
    offerPeriod: transaction.offerPeriod,
  }),
  refunds: listRefundedAmounts(transaction).map(({ date, amountMicros, amountUsd }) => ({
    date: toIsoSeconds(date),
    ...omitUndefined({ amountMicros, amountUSD: amountUsd }),
  })),
});

/** Returns the row of a customer that was read at `now`. */
export const toExportedCustomer = (
  username: string,
  { createdAt, summary }: StoredCustomer,
  now: EpochMillis,
): ExportedCustomer => ({
  seq: now,
  applicationUsername: username,
  createdAt: toIsoSeconds(createdAt),
  ...toCustomerInfo(summary, now),
});

/** Returns the rows of the entitlements of a customer that were read at `now`. */
export const toExportedEntitlements = (
  username: string,
  entitlements: Entitlements,
  now: EpochMillis,
): ExportedEntitlement[] =>
  Object.entries(toEntitlementRecords(entitlements)).map(([entitlement, { source, ...record }]) => {
    const { type: sourceType, ...ids } = source;
    return { seq: now, applicationUsername: username, entitlement, ...record, sourceType, ...ids };
  });

/** Returns the row that replaces the one of an entitlement that a customer can have lost with a purchase. */
export const toLostEntitlement = (
  applicationUsername: string,
  entitlement: string,
  now: EpochMillis,
): ExportedEntitlement => ({
  seq: now,
  applicationUsername,
  entitlement,
  isActive: false,
  since: null,
  until: null,
  willRenew: false,
  isSandbox: false,
  isInGracePeriod: false,
});

/** Returns the rows of the credits of an account that was read at `now`. */
export const toExportedCredits = (account: CreditAccount, now: EpochMillis): ExportedCredit[] =>
  Object.entries(toCreditTotals(account, now)).map(([credit, totals]) => ({
    seq: now,
    applicationUsername: account.username,
    isSandbox: account.isSandbox,
    credit,
    ...totals,
  }));
