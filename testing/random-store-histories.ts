import fc from 'fast-check';
import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import type { Platform } from '../lib/shared/platform.ts';
import { createUniqueName } from './given.ts';
import type { TestService } from './service.ts';

/** How one subscription lives: what happens to it round by round, and when its user shows it to the service. */
export interface StoreHistory {
  readonly platform: Platform;
  readonly autoRenew: boolean;
  readonly period: 'P1W' | 'P1M';
  readonly validates: 'first' | 'last' | 'never';
  readonly actions: readonly (string | undefined)[];
}

/** Subscriptions that live at the same time, and how far the clock moves after each round. */
export interface StoreHistories {
  readonly lives: readonly StoreHistory[];
  readonly moves: readonly string[];
}

const common = ['renew', 'cancel', 'uncancel', 'fail-payment', 'recover', 'expire', 'refund', 'revoke', 'change-plan'];
const actionsAt = {
  store_a: [...common, 'raise-price', 'accept-price', 'extend', 'redeem-offer', 'reverse-refund'],
  store_b: [...common, 'pause', 'resume', 'raise-price', 'accept-price'],
  processor_a: [...common, 'pause', 'resume'],
} as const satisfies Partial<Record<Platform, readonly string[]>>;
/** The platforms whose lives are lived. */
export const historyPlatforms = Object.keys(actionsAt) as (keyof typeof actionsAt)[];

const rounds = 3;

const life: fc.Arbitrary<StoreHistory> = fc.constantFrom(...historyPlatforms).chain((platform) =>
  fc.record({
    platform: fc.constant(platform),
    autoRenew: fc.boolean(),
    period: fc.constantFrom('P1W', 'P1M'),
    validates: fc.constantFrom('first', 'last', 'never'),
    actions: fc.array(fc.option(fc.constantFrom(...actionsAt[platform]), { nil: undefined, freq: 5 }), {
      minLength: rounds,
      maxLength: rounds,
    }),
  }),
);

/** So many random lives. */
export const arbitraryStoreHistories = (count: number): fc.Arbitrary<StoreHistories> =>
  fc.record({
    lives: fc.array(life, { minLength: count, maxLength: count }),
    // Together less than the sixty days after which store_b forgets what expired.
    moves: fc.array(fc.constantFrom('PT1H', 'P3D', 'P8D', 'P14D'), { minLength: rounds, maxLength: rounds }),
  });

/** A subscription of the emulated store while it lives. */
export interface RunningHistory {
  readonly life: StoreHistory;
  /** Lets the action of the round happen, where it is possible then. */
  act(round: number): Promise<void>;
  /** The user shows the purchase to the service of these applications. */
  validate(when: StoreHistory['validates'], apps: readonly IssuedApiKeys[]): Promise<void>;
  /** Nothing more is to happen by itself. */
  end(): Promise<void>;
}

/** Buys the subscription of a life. */
export async function startHistory(life: StoreHistory, service: TestService): Promise<RunningHistory> {
  const { platform, autoRenew, period, validates } = life;
  const [first, other] = [`first ${period}`, `other ${period}`];
  const order = { platform, productId: first, type: 'paid subscription', autoRenew, period };
  const bought = await service.callControl('/purchases', { ...order, applicationUsername: createUniqueName('user') });
  let { id } = bought as { id: string };
  let isOther = false;
  const happens = async (action: string, details: object = {}): Promise<boolean> => {
    const result = await service.callControl(`/purchases/${id}/${action}`, details).catch(ignoreRejection);
    id = result?.id ?? id;
    return result !== undefined;
  };
  return {
    life,
    async act(round) {
      const action = life.actions[round];
      if (action === undefined) return;
      if (action !== 'change-plan') return void (await happens(action));
      const productId = isOther ? first : other;
      if (await happens(action, { productId, period })) isOther = !isOther;
    },
    async validate(when, apps) {
      if (validates !== when) return;
      const { validate } = await service.callControl(`/purchases/${id}`);
      for (const app of apps) await service.validate(app, validate);
    },
    end: async () => void ((await happens('cancel')) || (await happens('expire'))),
  };
}

/** The store knows no such thing for a subscription in this state. */
const ignoreRejection = (error: unknown): undefined => {
  if (!/^(422|400|404|409) /.test(String((error as Error).message))) throw error;
};
