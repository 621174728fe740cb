import * as v from 'valibot';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { type EpochMillis, minuteMs } from '../../foundation/time.ts';
import type { Environment } from './payloads.ts';
import { toSaleFields } from './sales.ts';
import { refundReasons } from './signed-transaction.ts';
import type { StoreTransaction } from './store-transaction.ts';
import { isSharedOwnership } from './transaction-refunds.ts';

/** verifyReceipt returns most values as strings, but not all. The receipt itself is passed to the client unchanged. */
const Scalar = v.union([v.string(), v.number(), v.boolean()]);
type Scalar = v.InferOutput<typeof Scalar>;
const Digits = v.union([v.number(), v.pipe(v.string(), v.digits())]);
const [OptionalScalar, OptionalDigits] = [v.exactOptional(Scalar), v.exactOptional(Digits)];

/**
 * An in-app purchase of a classic receipt.
 * @see https://developer.apple.com/documentation/appstorereceipts/responsebody
 */
export const ClassicTransaction = v.looseObject({
  transaction_id: Scalar,
  original_transaction_id: OptionalScalar,
  product_id: v.string(),
  purchase_date_ms: Digits,
  original_purchase_date_ms: OptionalDigits,
  expires_date_ms: OptionalDigits,
  /** Milliseconds in iOS 6 receipts, otherwise a formatted date. */
  expires_date: OptionalScalar,
  cancellation_date_ms: OptionalDigits,
  cancellation_reason: OptionalScalar,
  is_trial_period: OptionalScalar,
  is_in_intro_offer_period: OptionalScalar,
  is_upgraded: OptionalScalar,
  promotional_offer_id: OptionalScalar,
  offer_code_ref_name: OptionalScalar,
  quantity: OptionalDigits,
  subscription_group_identifier: OptionalScalar,
  web_order_line_item_id: OptionalScalar,
  in_app_ownership_type: OptionalScalar,
  app_account_token: OptionalScalar,
});
export type ClassicTransaction = v.InferOutput<typeof ClassicTransaction>;

/** A receipt in the JSON format of verifyReceipt, which clients still read. */
export const ClassicReceipt = v.looseObject({
  receipt_type: OptionalScalar,
  bundle_id: OptionalScalar,
  application_version: OptionalScalar,
  original_application_version: OptionalScalar,
  original_purchase_date_ms: OptionalDigits,
  request_date_ms: OptionalDigits,
  in_app: v.exactOptional(v.array(ClassicTransaction)),
});
export type ClassicReceipt = v.InferOutput<typeof ClassicReceipt>;

/** Receipt types of the App Store. Xcode uses other types. */
const environments: Readonly<Record<string, Environment>> = {
  Production: 'Production',
  ProductionVPP: 'Production',
  ProductionSandbox: 'Sandbox',
  ProductionVPPSandbox: 'Sandbox',
  Sandbox: 'Sandbox',
};

/** Converts a `receipt_type`. Returns undefined if the App Store does not issue such receipts. */
export const toEnvironment = (receiptType: string): Environment | undefined =>
  Object.hasOwn(environments, receiptType) ? environments[receiptType] : undefined;

interface ReceiptOrigin {
  readonly environment: Environment;
  /** Undefined for a response of verifyReceipt, which is not signed. */
  readonly signedAt?: EpochMillis;
}

/** Converts the transactions of a receipt, which contain no prices. */
export const fromClassicTransactions = (
  records: readonly ClassicTransaction[],
  origin: ReceiptOrigin,
): StoreTransaction[] =>
  records.map((record) =>
    fromClassicTransaction(record, origin, toBoolean(record.is_upgraded) ?? wasUpgraded(record, records)),
  );

/**
 * Returns whether the cancellation date is that of an upgrade, seconds after the purchase of another product. The file
 * in the app's bundle and `in_app` lack `is_upgraded`.
 * @see https://developer.apple.com/forums/thread/96670
 */
const wasUpgraded = (record: ClassicTransaction, records: readonly ClassicTransaction[]): boolean =>
  records.some(
    (other) =>
      other.original_transaction_id === record.original_transaction_id &&
      other.product_id !== record.product_id &&
      Math.abs(Number(other.purchase_date_ms) - Number(record.cancellation_date_ms)) < minuteMs,
  );

function fromClassicTransaction(
  record: ClassicTransaction,
  { environment, signedAt }: ReceiptOrigin,
  isUpgraded: boolean,
): StoreTransaction {
  const isTrial = toBoolean(record.is_trial_period);
  const isIntro = toBoolean(record.is_in_intro_offer_period);
  const expiresDate = toNumber(record.expires_date_ms) ?? parseMillis(record.expires_date);
  const discountId = toText(record.promotional_offer_id) ?? toText(record.offer_code_ref_name);
  const ownership = record.in_app_ownership_type;
  const originalTransactionId = String(record.original_transaction_id ?? record.transaction_id);
  const lineItemId = toText(record.web_order_line_item_id);
  return {
    ...toSaleFields({ originalTransactionId, lineItemId, ...omitUndefined({ expiresDate }) }),
    ...omitUndefined({
      productType: expiresDate === undefined ? undefined : ('paid subscription' as const),
      subscriptionGroupId: toText(record.subscription_group_identifier),
      originalPurchaseDate: toNumber(record.original_purchase_date_ms),
      expiresDate,
      ...toEndDates(record, isUpgraded, expiresDate),
      isTrial,
      isIntro: isIntro === undefined ? undefined : isIntro && !isTrial,
      offerId: discountId,
      discountId,
      quantity: toNumber(record.quantity),
      isShared: ownership === undefined ? undefined : isSharedOwnership(String(ownership)),
      userAlias: toText(record.app_account_token),
      signedAt,
    }),
    transactionId: String(record.transaction_id),
    originalTransactionId,
    productId: record.product_id,
    sandbox: environment === 'Sandbox',
    purchaseDate: Number(record.purchase_date_ms),
    usedIntroOffer: (isTrial === true || isIntro === true) && discountId === undefined,
    native: record,
  };
}

/** An upgrade has a cancellation date, too, but is not a refund. */
function toEndDates(record: ClassicTransaction, isUpgraded: boolean, expiresDate: EpochMillis | undefined) {
  const canceledAt = toNumber(record.cancellation_date_ms);
  if (isUpgraded) return { replacedAt: canceledAt ?? expiresDate };
  if (canceledAt === undefined) return {};
  return {
    revokedAt: canceledAt,
    refundedAt: canceledAt,
    revocationReason: refundReasons[String(record.cancellation_reason)] ?? ('Unknown' as const),
  };
}

/** Returns undefined for an empty string. */
const toText = (value: Scalar | undefined): string | undefined =>
  value === undefined || value === '' ? undefined : String(value);

const toNumber = (value: string | number | undefined): number | undefined =>
  value === undefined ? undefined : Number(value);

const toBoolean = (value: Scalar | undefined): boolean | undefined =>
  value === undefined ? undefined : value === true || value === 'true' || value === '1';

const parseMillis = (value: Scalar | undefined): EpochMillis | undefined =>
  /^\d+$/.test(String(value)) ? Number(value) : undefined;
