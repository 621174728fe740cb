import type { EpochMillis } from '../../foundation/time.ts';
import type { RefreshToken } from './refresh-token.ts';

/** Input to the mapping from Microsoft's items to observations, in addition to the item. */
export interface MappingContext {
  readonly asOf: EpochMillis;
  readonly sandbox: boolean;
  /** The publisher user id in the StoreID key, which the store has accepted. */
  readonly userId?: string;
  /** Base of the observation's refresh token. The item adds its product and expiration. */
  readonly refreshToken: RefreshToken;
  readonly reportedAmount?: ReportedAmount;
  /** Expiration of the subscription at an earlier refresh. */
  readonly previousExpiration?: EpochMillis;
}

/** The price in the client's request. Microsoft's services do not report amounts. */
export interface ReportedAmount {
  readonly amountMicros: number;
  readonly currency: string;
}

/** Formats a price for the refresh token. */
export const formatPrice = ({ amountMicros, currency }: ReportedAmount): string => `${amountMicros} ${currency}`;

/** Parses the price of a refresh token. */
export function parsePrice(price: string | undefined): ReportedAmount | undefined {
  const [amount = '', currency = ''] = price?.split(' ') ?? [];
  return currency === '' ? undefined : { amountMicros: Number(amount), currency };
}

/** Converts the reported price to members of a transaction. A trial is always free. */
export const toReportedAmount = ({ reportedAmount }: MappingContext, isFree = false) =>
  reportedAmount && { ...reportedAmount, ...(isFree && { amountMicros: 0 }), isReportedAmount: true };
