import type { EpochMillis } from '../../shared/time.ts';
import type { RefreshToken } from './refresh-token.ts';

/** What is known about a look at the store beside the store's answer. */
export interface MappingContext {
  /** The moment of the look. */
  readonly asOf: EpochMillis;
  readonly sandbox: boolean;
  /** The user's name in the StoreID key, which the store has accepted. */
  readonly userId?: string;
  /** What the next look needs; its expiration and its product are filled in from the answer. */
  readonly refreshToken: RefreshToken;
  /** The price that the client told: the store tells none. */
  readonly reportedAmount?: ReportedAmount;
  /** When a subscription was to expire at an earlier look. */
  readonly previousExpiration?: EpochMillis;
}

/** An amount that is the client's word. */
export interface ReportedAmount {
  readonly amountMicros: number;
  readonly currency: string;
}

/** The members of a transaction that tell what the client said it paid; a trial is free whatever it said. */
export const toReportedAmount = ({ reportedAmount }: MappingContext, isTrial = false) =>
  reportedAmount && { ...reportedAmount, ...(isTrial && { amountMicros: 0 }), isReportedAmount: true };

/** The date by which the id of a renewal is told from the others. */
export const toUtcDay = (at: EpochMillis): string => new Date(at).toISOString().slice(0, 10);
