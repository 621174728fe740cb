import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { parse } from '../../foundation/parse.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import { ClassicReceipt, toEnvironment } from './classic-receipt.ts';
import type { Environment } from './payloads.ts';
import { invalidReceiptError, parseSignedMessage, verifySignedMessage } from './pkcs7-message.ts';
import {
  parseReceiptFields,
  pickBooleanFields,
  pickDateFields,
  pickIntegerFields,
  pickTextFields,
  type ReceiptFields,
  readDate,
  readText,
} from './receipt-fields.ts';
import { requireOwnBundle, type VerificationContext } from './verification.ts';

/** A verified app receipt, the file in the app's bundle. */
export interface AppReceipt {
  readonly bundleId: string;
  /** Undefined for old receipts, which do not contain it. */
  readonly environment?: Environment;
  readonly createdAt: EpochMillis;
  /** The content, with the field names of verifyReceipt. */
  readonly receipt: ClassicReceipt;
}

/** Above the size of real receipts. The API accepts bodies of at most 2 MB. */
const maxReceiptBytes = 2_000_000;

/**
 * Attribute types of the receipt and, from 1701, of its transactions.
 * @see https://developer.apple.com/documentation/appstorereceipts/validating-receipts-on-the-device
 */
const attributeTypes = { environment: 0, bundleId: 2, creation: 12, inApp: 17 } as const;

/**
 * Verifies and parses a base64 PKCS#7 receipt. The certificates must have been valid at the creation date and the
 * receipt must belong to the app. Throws `InvalidPayload`.
 */
export function verifyAppReceipt(base64: string, verification: VerificationContext): AppReceipt {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > maxReceiptBytes) throw invalidReceiptError(`it exceeds ${maxReceiptBytes} bytes`);
  const message = parseSignedMessage(bytes);
  const fields = parseReceiptFields(message.content);
  const createdAt = readDate(fields, attributeTypes.creation);
  if (createdAt === undefined) throw invalidReceiptError('the creation date is missing');
  verifySignedMessage(message, verification.receiptRoots, createdAt);
  const bundleId = readText(fields, attributeTypes.bundleId) ?? '';
  return requireOwnBundle(
    { bundleId, createdAt, receipt: toClassicReceipt(fields), ...parseEnvironment(fields) },
    verification,
  );
}

function parseEnvironment(fields: ReceiptFields): { environment?: Environment } {
  const receiptType = readText(fields, attributeTypes.environment);
  const environment = receiptType === undefined ? undefined : toEnvironment(receiptType);
  if (receiptType !== undefined && environment === undefined)
    throw invalidReceiptError(`receipts of type ${receiptType} are not accepted`);
  return omitUndefined({ environment });
}

function toClassicReceipt(fields: ReceiptFields): ClassicReceipt {
  return parse(ClassicReceipt, {
    ...pickTextFields(fields, {
      receipt_type: attributeTypes.environment,
      bundle_id: attributeTypes.bundleId,
      application_version: 3,
      original_application_version: 19,
    }),
    ...pickDateFields(fields, {
      receipt_creation_date: attributeTypes.creation,
      original_purchase_date: 18,
      expiration_date: 21,
    }),
    in_app: (fields.get(attributeTypes.inApp) ?? []).map((value) => toClassicTransaction(parseReceiptFields(value))),
  });
}

const toClassicTransaction = (fields: ReceiptFields): Record<string, string> => ({
  ...pickIntegerFields(fields, { quantity: 1701 }),
  ...pickTextFields(fields, { product_id: 1702, transaction_id: 1703, original_transaction_id: 1705 }),
  ...pickDateFields(fields, { purchase_date: 1704, original_purchase_date: 1706, expires_date: 1708 }),
  ...pickIntegerFields(fields, { web_order_line_item_id: 1711 }),
  ...pickDateFields(fields, { cancellation_date: 1712 }),
  ...pickBooleanFields(fields, { is_trial_period: 1713, is_in_intro_offer_period: 1719 }),
  ...pickTextFields(fields, { promotional_offer_id: 1721 }),
});
