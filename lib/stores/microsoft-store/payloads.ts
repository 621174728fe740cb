import * as v from 'valibot';
import type { EpochMillis } from '../../foundation/time.ts';
import { lenientOptional } from '../parse-response.ts';

/** Microsoft's services write a missing text as null or omit it. */
export const NullishText = v.nullish(v.string());

const earliest = Date.parse('1990-01-01T00:00:00Z');
const noDate = Date.parse('9999-01-01T00:00:00Z');

/**
 * Parses a timestamp. Returns undefined for an invalid one and for .NET's substitutes of a missing date: the year 1 is
 * an unset date, the year 9999 an open end.
 */
export function parseTimestamp(text: string | null | undefined): EpochMillis | undefined {
  const time = Date.parse(withUtcZone(text ?? ''));
  return time >= earliest && time < noDate ? time : undefined;
}

/** Appends the UTC zone to a timestamp without a zone. */
const withUtcZone = (text: string): string => (/T[\d:.]{1,30}$/.test(text) ? `${text}Z` : text);

const LenientText = lenientOptional(v.string());
const NonEmptyText = v.pipe(v.string(), v.minLength(1));

/**
 * An item of a customer's collection, in the formats of versions 6, 8 and 9.
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/query-for-products
 */
export const CollectionsItem = v.looseObject({
  id: NullishText,
  itemId: NullishText,
  productId: v.string(),
  skuId: LenientText,
  productKind: NullishText,
  productType: NullishText,
  status: NullishText,
  acquiredDate: NullishText,
  endDate: NullishText,
  modifiedDate: LenientText,
  transactionId: LenientText,
  quantity: lenientOptional(v.number()),
  trialData: lenientOptional(v.looseObject({ isInTrialPeriod: lenientOptional(v.boolean()) })),
  recurrenceId: NullishText,
  /** Bundles or subscriptions that include the product. */
  satisfiedByProductIds: lenientOptional(v.array(v.string())),
  inAppOfferToken: LenientText,
  devOfferId: LenientText,
  /** Version 8 only: country in two letters. */
  purchasedCountry: LenientText,
});
export type CollectionsItem = v.InferOutput<typeof CollectionsItem>;

/**
 * A subscription, called recurrence by Microsoft.
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/get-subscriptions-for-a-user
 */
export const RecurrenceItem = v.looseObject({
  id: NonEmptyText,
  productId: v.string(),
  skuId: LenientText,
  autoRenew: lenientOptional(v.boolean()),
  beneficiary: LenientText,
  expirationTime: NullishText,
  expirationTimeWithGrace: NullishText,
  isTrial: lenientOptional(v.boolean()),
  lastModified: LenientText,
  startTime: NullishText,
  cancellationDate: LenientText,
  recurrenceState: NullishText,
  /** Country in two letters. */
  market: LenientText,
});
export type RecurrenceItem = v.InferOutput<typeof RecurrenceItem>;

const Timestamp = v.pipe(
  v.string(),
  v.transform((text) => parseTimestamp(text)),
  v.number(),
);

/**
 * A payment reversal, or the end of one. It does not identify the customer.
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/xstore-managing-refunds-and-chargebacks
 */
export const ClawbackEvent = v.object({
  id: NonEmptyText,
  source: lenientOptional(v.string()),
  time: Timestamp,
  data: v.object({
    orderId: v.string(),
    productId: NonEmptyText,
    eventDate: Timestamp,
    eventState: NonEmptyText,
    sandboxId: NullishText,
    recurrenceData: v.nullish(
      v.object({
        recurrenceId: NonEmptyText,
        durationIntervalStart: v.nullish(Timestamp),
        durationInDays: lenientOptional(v.number()),
        consumedDurationInDays: lenientOptional(v.number()),
        refundType: lenientOptional(v.string()),
      }),
    ),
  }),
});
export type ClawbackEvent = v.InferOutput<typeof ClawbackEvent>;
