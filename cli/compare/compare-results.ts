import type { OwnedState, ValidatorResult } from './validator-result.ts';

type ComparedField = 'ok' | 'product' | 'owned' | Exclude<keyof OwnedState, 'productId' | 'isOwned' | PairingField>;

/** Fields that identify a purchase. They differ between validators. */
type PairingField = 'purchaseId' | 'transactionId' | 'purchaseDate';
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
 * Compares what two validators report as owned. A purchase that a single validator reports is a difference only if it
 * is owned, because validators differ in how long they report expired purchases.
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
      const compared = { ...options, hasStatesOnly: here.hasStatesOnly ?? there.hasStatesOnly ?? false };
      return pairPurchases(own, other, options).flatMap((pair) => comparePurchases(productId, pair, compared));
    }),
  ];
}

const describeOk = ({ isOk, reason }: ValidatorResult): ComparedValue => (isOk ? true : `no: ${reason ?? 'no reason'}`);

type Pair = readonly [OwnedState | undefined, OwnedState | undefined];

type IsSame = (here: OwnedState, there: OwnedState) => boolean;

/**
 * Pairs the purchases of a product: by their ids, then by transaction, expiration and purchase date, then the remaining
 * ones, because validators can identify a purchase differently or not at all. If some ids are equal, purchases with
 * different ids are not paired.
 */
function pairPurchases(here: readonly OwnedState[], there: readonly OwnedState[], options: CompareOptions): Pair[] {
  const rest = { here: [...here], there: [...there] };
  const pairs: Pair[] = [];
  const pairIf = (isSame: IsSame): void => {
    for (const own of [...rest.here]) {
      const index = rest.there.findIndex((other) => isSame(own, other));
      if (index === -1) continue;
      pairs.push([own, rest.there.splice(index, 1)[0]]);
      rest.here.splice(rest.here.indexOf(own), 1);
    }
  };
  pairIf((a, b) => a.purchaseId !== undefined && a.purchaseId === b.purchaseId);
  const hasEqualIds = pairs.length > 0;
  const canBeSame: IsSame = (a, b) => !hasEqualIds || a.purchaseId === undefined || b.purchaseId === undefined;
  const isSameDate = (a: number | undefined, b: number | undefined): boolean => isSameTime(a, b, options);
  const haveSameDates: IsSame = (a, b) =>
    isSameDate(a.expiryDate, b.expiryDate) && isSameDate(a.purchaseDate, b.purchaseDate);
  const rules: readonly IsSame[] = [
    (a, b) => a.transactionId !== undefined && a.transactionId === b.transactionId,
    (a, b) => haveSameDates(a, b) && a.isOwned === b.isOwned,
    haveSameDates,
    (a, b) => a.expiryDate !== undefined && isSameDate(a.expiryDate, b.expiryDate),
    (a, b) => a.purchaseDate !== undefined && isSameDate(a.purchaseDate, b.purchaseDate),
    (a, b) => a.isOwned === b.isOwned,
    () => true,
  ];
  for (const isSame of rules) pairIf((a, b) => canBeSame(a, b) && isSame(a, b));
  return [
    ...pairs,
    ...rest.here.map((purchase): Pair => [purchase, undefined]),
    ...rest.there.map((purchase): Pair => [undefined, purchase]),
  ];
}

/** Two absent dates are the same, as are dates that differ by at most the tolerance. */
const isSameTime = (a: number | undefined, b: number | undefined, { toleranceMs }: CompareOptions): boolean =>
  a === b || Math.abs((a ?? Number.NaN) - (b ?? Number.NaN)) <= toleranceMs;

function comparePurchases(
  productId: string,
  [here, there]: Pair,
  options: CompareOptions & { readonly hasStatesOnly: boolean },
): Difference[] {
  if (!here || !there) {
    const isOwned = here?.isOwned || there?.isOwned;
    return isOwned
      ? [{ field: 'owned', productId, here: here?.isOwned ?? 'missing', there: there?.isOwned ?? 'missing' }]
      : [];
  }
  const difference = (field: ComparedField, own: ComparedValue, other: ComparedValue): Difference[] =>
    own === other ? [] : [{ field, productId, here: own, there: other }];
  const isSameExpiry = isSameTime(here.expiryDate, there.expiryDate, options);
  const states = [
    ...difference('owned', here.isOwned, there.isOwned),
    ...(isSameExpiry ? [] : difference('expiryDate', formatDate(here.expiryDate), formatDate(there.expiryDate))),
  ];
  if (options.hasStatesOnly) return states;
  return [
    ...states,
    ...difference('cancelationReason', here.cancelationReason, there.cancelationReason),
    ...difference('isTrialPeriod', here.isTrialPeriod, there.isTrialPeriod),
    ...difference('isIntroPeriod', here.isIntroPeriod, there.isIntroPeriod),
    ...difference('isConsumed', here.isConsumed, there.isConsumed),
  ];
}

const formatDate = (date: number | undefined): string | undefined =>
  date === undefined ? undefined : new Date(date).toISOString();
