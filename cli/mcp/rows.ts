import * as v from 'valibot';
import { PurchaseDetails, PurchaseRecord, TransactionRecord } from '../../lib/api/purchase-records.ts';
import { CurrencyCode } from '../../lib/api/schemas.ts';

/*
 * Records of the API whose texts of limited format are stated: they need no mark.
 */

export const PurchaseRow = v.object({ ...PurchaseRecord.entries, currency: v.exactOptional(CurrencyCode) });
export const PurchaseDetailsRow = v.object({ ...PurchaseDetails.entries, currency: v.exactOptional(CurrencyCode) });
export const TransactionRow = v.object({ ...TransactionRecord.entries, currency: v.nullable(CurrencyCode) });
