import type { OwnedState, ValidatorResult } from './validator-result.ts';

type ComparedField = 'ok' | 'product' | 'owned' | Exclude<keyof OwnedState, 'productId' | 'purchaseId' | 'isOwned'>;
type ComparedValue = string | boolean | undefined;

/** A difference between the results of two validators. `here` is the value of this service. */
export interface Difference {
  readonly field: ComparedField;
  /** Without prefix. Undefined for a difference of the whole result. */
  readonly productId?: string;
  readonly here: ComparedValue;
  readonly there: ComparedValue;
}

interface CompareOptions {
  /** Dates that differ by at most this are equal. */
  readonly toleranceMs: number;
}

/**
 * Compares what two validators report as owned. A purchase that a single validator reports is a difference only if it is
 * owned, because validators differ in how long they report expired purchases.
 */
export function compareResults(here: ValidatorResult, there: ValidatorResult, options: CompareOptions): Difference[] {
  if (here.isOk !== there.isOk) return [{ field: 'ok', here: describeOk(here), there: describeOk(there) }];
  const hasOtherProduct =
    here.productId !== undefined && there.productId !== undefined && here.productId !== there.productId;
  const productIds = new Set([...here.purchases, ...there.purchases].map(({ productId }) => productId));
  return [
    ...(hasOtherProduct ? [{ field: 'product' as const, here: here.productId, there: there.productId }] : []),
    ...[...productIds].sort().flatMap((productId) => {
      const [own, other] = [here, there].map(({ purchases }) =>
        purchases.filter((purchase) => purchase.productId === productId),
      ) as [OwnedState[], OwnedState[]];
      return pairPurchases(own, other).flatMap((pair) => comparePurchases(productId, pair, options));
    }),
  ];
}

const describeOk = ({ isOk, reason }: ValidatorResult): ComparedValue => (isOk ? true : `no: ${reason ?? 'no reason'}`);

type Pair = readonly [OwnedState | undefined, OwnedState | undefined];

/** Pairs the purchases of a product: by their ids, or the only ones, because validators can identify a purchase differently. */
function pairPurchases(here: readonly OwnedState[], there: readonly OwnedState[]): Pair[] {
  if (here.length === 1 && there.length === 1) return [[here[0], there[0]]];
  const rest = [...there];
  const pairs = here.map((purchase): Pair => {
    const index = rest.findIndex(({ purchaseId }) => purchaseId !== undefined && purchaseId === purchase.purchaseId);
    return [purchase, index === -1 ? undefined : rest.splice(index, 1)[0]];
  });
  return [...pairs, ...rest.map((purchase): Pair => [undefined, purchase])];
}

function comparePurchases(productId: string, [here, there]: Pair, { toleranceMs }: CompareOptions): Difference[] {
  if (!here || !there) {
    const isOwned = here?.isOwned || there?.isOwned;
    return isOwned
      ? [{ field: 'owned', productId, here: here?.isOwned ?? 'missing', there: there?.isOwned ?? 'missing' }]
      : [];
  }
  const difference = (field: ComparedField, own: ComparedValue, other: ComparedValue): Difference[] =>
    own === other ? [] : [{ field, productId, here: own, there: other }];
  const isSameExpiry =
    here.expiryDate === there.expiryDate ||
    Math.abs((here.expiryDate ?? Number.NaN) - (there.expiryDate ?? Number.NaN)) <= toleranceMs;
  return [
    ...difference('owned', here.isOwned, there.isOwned),
    ...(isSameExpiry ? [] : difference('expiryDate', formatDate(here.expiryDate), formatDate(there.expiryDate))),
    ...difference('cancelationReason', here.cancelationReason, there.cancelationReason),
    ...difference('isTrialPeriod', here.isTrialPeriod, there.isTrialPeriod),
    ...difference('isIntroPeriod', here.isIntroPeriod, there.isIntroPeriod),
  ];
}

const formatDate = (date: number | undefined): string | undefined =>
  date === undefined ? undefined : new Date(date).toISOString();
