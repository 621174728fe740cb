import { omitUndefined } from '../../foundation/omit-undefined.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { ClassicReceipt } from './classic-receipt.ts';
import type { AppTransactionPayload } from './payloads.ts';

/** The customer's download of the app. */
export interface AppDownload {
  readonly currentVersion?: string;
  readonly originalVersion?: string;
  readonly originalPurchaseDate?: EpochMillis;
}

export const fromAppTransaction = (payload: AppTransactionPayload): AppDownload =>
  omitUndefined({
    currentVersion: payload.applicationVersion,
    originalVersion: payload.originalApplicationVersion,
    originalPurchaseDate: payload.originalPurchaseDate,
  });

export const fromClassicReceipt = (receipt: ClassicReceipt): AppDownload =>
  omitUndefined({
    currentVersion: receipt.application_version?.toString(),
    originalVersion: receipt.original_application_version?.toString(),
    originalPurchaseDate:
      receipt.original_purchase_date_ms === undefined ? undefined : Number(receipt.original_purchase_date_ms),
  });

/** Converts a download to the field names of classic receipts. Clients read these for every kind of evidence. */
export const toNativeDownload = ({ currentVersion, originalVersion, originalPurchaseDate }: AppDownload) =>
  omitUndefined({
    application_version: currentVersion,
    original_application_version: originalVersion,
    original_purchase_date_ms: originalPurchaseDate?.toString(),
  });
