import * as v from 'valibot';
import { defined } from '../../defined.ts';
import type { Environment } from './payloads.ts';
import { refundReasons } from './signed-transaction.ts';
import type { StoreTransaction } from './store-transaction.ts';

/** Every value is text in an answer of verifyReceipt, though not in all of them; the record stays as it came. */
const Word = v.union([v.string(), v.number(), v.boolean()]);
const Digits = v.union([v.number(), v.pipe(v.string(), v.digits())]);
const [MaybeWord, MaybeDigits] = [v.exactOptional(Word), v.exactOptional(Digits)];

/** A purchase as classic receipts list it. */
export const ClassicTransaction = v.looseObject({
  transaction_id: Word,
  original_transaction_id: MaybeWord,
  product_id: v.string(),
  purchase_date_ms: Digits,
  original_purchase_date_ms: MaybeDigits,
  expires_date_ms: MaybeDigits,
  /** Receipts of iOS 6 have milliseconds here, all later ones a date in words. */
  expires_date: MaybeWord,
  cancellation_date_ms: MaybeDigits,
  cancellation_reason: MaybeWord,
  is_trial_period: MaybeWord,
  is_in_intro_offer_period: MaybeWord,
  is_upgraded: MaybeWord,
  promotional_offer_id: MaybeWord,
  offer_code_ref_name: MaybeWord,
  quantity: MaybeDigits,
  subscription_group_identifier: MaybeWord,
  in_app_ownership_type: MaybeWord,
  app_account_token: MaybeWord,
});
export type ClassicTransaction = v.InferOutput<typeof ClassicTransaction>;

/** A receipt in the words of verifyReceipt, which clients still read. */
export const ClassicReceipt = v.looseObject({
  receipt_type: MaybeWord,
  bundle_id: MaybeWord,
  application_version: MaybeWord,
  original_application_version: MaybeWord,
  original_purchase_date_ms: MaybeDigits,
  request_date_ms: MaybeDigits,
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
export const environmentOf = (receiptType: string): Environment | undefined =>
  Object.hasOwn(environments, receiptType) ? environments[receiptType] : undefined;

interface Origin {
  readonly environment: Environment;
  /** When Apple signed the list, if it is signed. */
  readonly signedAt?: number;
}

/** A purchase of a classic receipt in our words. Its price is unknown. */
export function fromClassicTransaction(record: ClassicTransaction, origin: Origin): StoreTransaction {
  const isTrial = truth(record.is_trial_period);
  const isIntro = truth(record.is_in_intro_offer_period);
  const expiresDate = amount(record.expires_date_ms) ?? millisIn(record.expires_date);
  const discountId = word(record.promotional_offer_id) ?? word(record.offer_code_ref_name);
  const ownership = record.in_app_ownership_type;
  return {
    ...defined({
      productType: expiresDate === undefined ? undefined : ('paid subscription' as const),
      group: word(record.subscription_group_identifier),
      originalPurchaseDate: amount(record.original_purchase_date_ms),
      expiresDate,
      ...endOf(record, expiresDate),
      isTrial,
      isIntro: isIntro === undefined ? undefined : isIntro && !isTrial,
      offerId: discountId,
      discountId,
      quantity: amount(record.quantity),
      isShared: ownership === undefined ? undefined : ownership === 'FAMILY_SHARED',
      userToken: word(record.app_account_token),
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
function endOf(record: ClassicTransaction, expiresDate: number | undefined) {
  const cancelledAt = amount(record.cancellation_date_ms);
  if (truth(record.is_upgraded)) return { replacedAt: cancelledAt ?? expiresDate };
  if (cancelledAt === undefined) return {};
  return {
    revokedAt: cancelledAt,
    revocation: refundReasons[String(record.cancellation_reason)] ?? ('Unknown' as const),
  };
}

type Word = v.InferOutput<typeof Word>;

/** Empty text is no word. */
const word = (value: Word | undefined): string | undefined =>
  value === undefined || value === '' ? undefined : String(value);

const amount = (value: string | number | undefined): number | undefined =>
  value === undefined ? undefined : Number(value);

const truth = (value: Word | undefined): boolean | undefined =>
  value === undefined ? undefined : value === true || value === 'true' || value === '1';

const millisIn = (value: Word | undefined): number | undefined =>
  /^\d+$/.test(String(value)) ? Number(value) : undefined;
