import { omitUndefined } from '../../shared/omit-undefined.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { ClassicReceipt } from './classic-receipt.ts';
import type { AppTransactionPayload } from './payloads.ts';

/** The customer's download of the application, as much of it as is told. */
export interface AppDownload {
  readonly currentVersion?: string;
  readonly originalVersion?: string;
  readonly originalPurchaseDate?: EpochMillis;
}

/** The download by what Apple signed. */
export const fromAppTransaction = (payload: AppTransactionPayload): AppDownload =>
  omitUndefined({
    currentVersion: payload.applicationVersion,
    originalVersion: payload.originalApplicationVersion,
    originalPurchaseDate: payload.originalPurchaseDate,
  });

/** The download by a receipt. */
export const fromClassicReceipt = (receipt: ClassicReceipt): AppDownload =>
  omitUndefined({
    currentVersion: receipt.application_version?.toString(),
    originalVersion: receipt.original_application_version?.toString(),
    originalPurchaseDate:
      receipt.original_purchase_date_ms === undefined ? undefined : Number(receipt.original_purchase_date_ms),
  });

/** The download in the words of classic receipts, which clients read whatever they sent. */
export const toNativeDownload = ({ currentVersion, originalVersion, originalPurchaseDate }: AppDownload) =>
  omitUndefined({
    application_version: currentVersion,
    original_application_version: originalVersion,
    original_purchase_date_ms: originalPurchaseDate?.toString(),
  });
