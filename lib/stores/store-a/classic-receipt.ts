import * as v from 'valibot';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import type { Environment } from './payloads.ts';
import { refundReasons } from './signed-transaction.ts';
import type { StoreTransaction } from './store-transaction.ts';

/** Every value is text in an answer of verifyReceipt, though not in all of them; the record stays as it came. */
const Scalar = v.union([v.string(), v.number(), v.boolean()]);
const Digits = v.union([v.number(), v.pipe(v.string(), v.digits())]);
const [OptionalScalar, OptionalDigits] = [v.exactOptional(Scalar), v.exactOptional(Digits)];

/** A purchase as classic receipts list it. */
export const ClassicTransaction = v.looseObject({
  transaction_id: Scalar,
  original_transaction_id: OptionalScalar,
  product_id: v.string(),
  purchase_date_ms: Digits,
  original_purchase_date_ms: OptionalDigits,
  expires_date_ms: OptionalDigits,
  /** Receipts of iOS 6 have milliseconds here, all later ones a date in words. */
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
  in_app_ownership_type: OptionalScalar,
  app_account_token: OptionalScalar,
});
export type ClassicTransaction = v.InferOutput<typeof ClassicTransaction>;

/** A receipt in the words of verifyReceipt, which clients still read. */
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

/** The types of receipts that a store issues; Xcode writes its own name instead. */
const environments: Readonly<Record<string, Environment>> = {
  Production: 'Production',
  ProductionVPP: 'Production',
  ProductionSandbox: 'Sandbox',
  ProductionVPPSandbox: 'Sandbox',
  Sandbox: 'Sandbox',
};

/** The environment of a `receipt_type`; undefined for one that no store issues. */
export const toEnvironment = (receiptType: string): Environment | undefined =>
  Object.hasOwn(environments, receiptType) ? environments[receiptType] : undefined;

interface ReceiptOrigin {
  readonly environment: Environment;
  /** When Apple signed the list, if it is signed. */
  readonly signedAt?: number;
}

/** A purchase of a classic receipt in our words. Its price is unknown. */
export function fromClassicTransaction(record: ClassicTransaction, origin: ReceiptOrigin): StoreTransaction {
  const isTrial = toBoolean(record.is_trial_period);
  const isIntro = toBoolean(record.is_in_intro_offer_period);
  const expiresDate = toNumber(record.expires_date_ms) ?? parseMillis(record.expires_date);
  const discountId = toText(record.promotional_offer_id) ?? toText(record.offer_code_ref_name);
  const ownership = record.in_app_ownership_type;
  return {
    ...omitUndefined({
      productType: expiresDate === undefined ? undefined : ('paid subscription' as const),
      subscriptionGroupId: toText(record.subscription_group_identifier),
      originalPurchaseDate: toNumber(record.original_purchase_date_ms),
      expiresDate,
      ...toEndDates(record, expiresDate),
      isTrial,
      isIntro: isIntro === undefined ? undefined : isIntro && !isTrial,
      offerId: discountId,
      discountId,
      quantity: toNumber(record.quantity),
      isShared: ownership === undefined ? undefined : ownership === 'FAMILY_SHARED',
      userToken: toText(record.app_account_token),
      signedAt: origin.signedAt,
    }),
    transactionId: String(record.transaction_id),
    originalTransactionId: String(record.original_transaction_id ?? record.transaction_id),
    productId: record.product_id,
    sandbox: origin.environment === 'Sandbox',
    purchaseDate: Number(record.purchase_date_ms),
    usedIntroOffer: (isTrial === true || isIntro === true) && discountId === undefined,
    native: record,
  };
}

/** An upgrade is written as a cancellation, but it is no refund. */
function toEndDates(record: ClassicTransaction, expiresDate: number | undefined) {
  const cancelledAt = toNumber(record.cancellation_date_ms);
  if (toBoolean(record.is_upgraded)) return { replacedAt: cancelledAt ?? expiresDate };
  if (cancelledAt === undefined) return {};
  return {
    revokedAt: cancelledAt,
    revocation: refundReasons[String(record.cancellation_reason)] ?? ('Unknown' as const),
  };
}

type Scalar = v.InferOutput<typeof Scalar>;

/** Empty text is no word. */
const toText = (value: Scalar | undefined): string | undefined =>
  value === undefined || value === '' ? undefined : String(value);

const toNumber = (value: string | number | undefined): number | undefined =>
  value === undefined ? undefined : Number(value);

const toBoolean = (value: Scalar | undefined): boolean | undefined =>
  value === undefined ? undefined : value === true || value === 'true' || value === '1';

const parseMillis = (value: Scalar | undefined): number | undefined =>
  /^\d+$/.test(String(value)) ? Number(value) : undefined;
