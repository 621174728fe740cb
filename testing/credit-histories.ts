import fc from 'fast-check';
import type { Catalogue } from '../lib/apps/catalogue.ts';
import {
  arbitraryOwnershipHistories,
  buildOwnershipCatalogue,
  type OwnershipHistories,
  type OwnershipHistory,
} from './random-ownership-histories.ts';

/** What happens to the credits of a run. Numbers name a customer, a purchase or an earlier step, modulo their count. */
export type CreditStep =
  | { readonly type: 'spend' | 'take' | 'spenders'; readonly user: number; readonly units: Units }
  | { readonly type: 'give'; readonly user: number; readonly units: Units; readonly days: number | undefined }
  | { readonly type: 'hold'; readonly user: number; readonly units: Units; readonly minutes: number }
  | { readonly type: 'end'; readonly hold: number; readonly amount: number }
  | { readonly type: 'repeat'; readonly request: number }
  | { readonly type: 'merge'; readonly from: number; readonly to: number }
  | { readonly type: 'reverse'; readonly merge: number }
  | { readonly type: 'erase'; readonly user: number }
  | { readonly type: 'settle' | 'refresh'; readonly purchase: number }
  | { readonly type: 'validate'; readonly purchase: number; readonly user: number | undefined }
  | { readonly type: 'wait'; readonly minutes: number };

interface Units {
  readonly credit: 'coins' | 'gems';
  readonly amount: number;
}

/** Histories of purchases at all stores, with what happens to the credits that they give between two rounds. */
export interface CreditRun {
  readonly purchases: OwnershipHistories;
  readonly floor: 'zero' | 'debt';
  readonly steps: readonly CreditStep[];
  /** Erases customers. What an erased customer has given back cannot be recounted. */
  readonly erases: boolean;
  /** Part of the writes before or after which the process crashes. */
  readonly crashRate: number;
}

const number = fc.nat(1_000_000);
const arbitraryUnits = (max: number): fc.Arbitrary<Units> =>
  fc.record({ credit: fc.constantFrom('coins', 'gems'), amount: fc.integer({ min: 1, max }) });
const units = arbitraryUnits(12);

const arbitraryStep: fc.Arbitrary<CreditStep> = fc.oneof(
  { weight: 30, arbitrary: fc.record({ type: fc.constant('spend' as const), user: number, units }) },
  { weight: 8, arbitrary: fc.record({ type: fc.constant('take' as const), user: number, units }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('give' as const),
      user: number,
      // As many as are spent, taken and held: else most requests are refused. Few lots: the engine is slow with many.
      units: arbitraryUnits(120),
      days: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      type: fc.constant('hold' as const),
      user: number,
      units,
      minutes: fc.integer({ min: 1, max: 3000 }),
    }),
  },
  { weight: 10, arbitrary: fc.record({ type: fc.constant('end' as const), hold: number, amount: fc.nat(12) }) },
  { weight: 12, arbitrary: fc.record({ type: fc.constant('repeat' as const), request: number }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('spenders' as const), user: number, units }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('merge' as const), from: number, to: number }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('reverse' as const), merge: number }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('erase' as const), user: number }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constantFrom('settle' as const, 'refresh' as const), purchase: number }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('validate' as const),
      purchase: number,
      user: fc.option(number, { nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 500 }) }),
  },
);

/** Generates runs with `count` purchases of each platform. */
export const arbitraryCreditRun = (count: number, stepCount: number): fc.Arbitrary<CreditRun> =>
  fc.record({
    purchases: arbitraryOwnershipHistories(count).chain((run) =>
      fc
        .tuple(...run.histories.map(arbitraryCreditHistory))
        .map((histories): OwnershipHistories => ({ ...run, histories })),
    ),
    floor: fc.constantFrom('zero' as const, 'debt' as const),
    steps: fc.array(arbitraryStep, { minLength: stepCount, maxLength: stepCount, size: 'max' }),
    erases: fc.boolean(),
    crashRate: fc.constantFrom(0, 0.1, 0.3),
  });

/** Makes a one-time purchase a consumable, and replaces half of the actions with reversals and their return. */
const arbitraryCreditHistory = (history: OwnershipHistory): fc.Arbitrary<OwnershipHistory> =>
  fc.tuple(...history.actions.map((action) => fc.option(fc.constantFrom(...reversals), { nil: action, freq: 1 }))).map(
    (actions): OwnershipHistory => ({
      ...history,
      type: history.type === 'non consumable' ? 'consumable' : history.type,
      actions,
    }),
  );
const reversals: readonly (string | undefined)[] = [
  'refund',
  'refund of a part',
  'dispute',
  'win-dispute',
  'reverse-refund',
];

/** What each payment gives. */
export const givenUnits = { coins: 20, gems: 3 } as const;

/** Builds a catalogue whose products give credits that end never, with the period, or after ten days. */
export const buildCreditCatalogue = (): Catalogue =>
  Object.fromEntries(
    Object.entries(buildOwnershipCatalogue('premium')).map(([id, { type }], index) => {
      const isPeriodic = type === 'paid subscription';
      const ends = ['never', isPeriodic ? 'period' : 'never', 'P10D'] as const;
      return [id, { type: isPeriodic ? type : 'consumable', credits: givenUnits, expires: ends[index % 3] ?? 'never' }];
    }),
  );
