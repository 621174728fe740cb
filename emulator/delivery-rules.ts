import * as v from 'valibot';
import { Period } from './calendar.ts';

/** Rule for the delivery of the next notifications: the body of `POST /control/notifications`. */
export const DeliveryRule = v.strictObject({
  /** Store that the rule applies to; absent for every store. */
  platform: v.exactOptional(v.string()),
  /** Number of notifications that the rule applies to; absent until the rules are cleared. */
  next: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  /** Number of copies that are sent. */
  times: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5))),
  /** Delay of the first attempt, on the emulated clock. */
  delayed: v.exactOptional(Period),
  /** Holds notifications until they are released. */
  held: v.exactOptional(v.boolean()),
});
export type DeliveryRule = Readonly<v.InferOutput<typeof DeliveryRule>>;

/** Active delivery rules. The earliest rule that matches a notification applies. */
export interface DeliveryRules {
  readonly add: (rule: DeliveryRule) => void;
  /** Returns the rule for a notification of the store and decrements its `next`. Without a rule it returns `{}`. */
  readonly consume: (platform: string) => DeliveryRule;
  readonly list: () => readonly DeliveryRule[];
  readonly clear: () => void;
}

/** Creates an empty list of rules: each notification is sent once, immediately. */
export function createDeliveryRules(): DeliveryRules {
  let rules: readonly DeliveryRule[] = [];
  return {
    list: () => rules,
    add: (rule) => {
      rules = [...rules, rule];
    },
    consume: (platform) => {
      const match = rules.find((rule) => (rule.platform ?? platform) === platform);
      if (match === undefined) return {};
      rules = rules.flatMap((rule) => (rule === match ? consumeOne(rule) : [rule]));
      return match;
    },
    clear: () => {
      rules = [];
    },
  };
}

function consumeOne(rule: DeliveryRule): DeliveryRule[] {
  if (rule.next === undefined) return [rule];
  return rule.next > 1 ? [{ ...rule, next: rule.next - 1 }] : [];
}
