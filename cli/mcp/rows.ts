import * as v from 'valibot';
import { CurrencyCode } from '../../lib/api/schemas.ts';
import { PurchaseDetails, PurchaseRecord } from '../../lib/purchases/purchase-contract.ts';
import { TransactionRecord } from '../../lib/purchases/transaction-contract.ts';

/*
 * Records of the API whose texts of limited format are stated: they need no mark.
 */

export const PurchaseRow = v.object({ ...PurchaseRecord.entries, currency: v.exactOptional(CurrencyCode) });
export const PurchaseDetailsRow = v.object({ ...PurchaseDetails.entries, currency: v.exactOptional(CurrencyCode) });
export const TransactionRow = v.object({ ...TransactionRecord.entries, currency: v.nullable(CurrencyCode) });
