import * as v from 'valibot';

/** Settings of the developer's account at a store. */
export const AccountSettings = v.strictObject({
  /** Stripe: status of a subscription after the last retry of a failed payment. */
  failedPayments: v.exactOptional(v.picklist(['cancel', 'unpaid', 'past_due'])),
  /** Google Play: whether the push subscription sends the data of a message without its wrapper. */
  payloadUnwrapping: v.exactOptional(v.boolean()),
  /** Elements of an embedded list or a page. Default: the documented length of the store. */
  listLength: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100))),
});
export type AccountSettings = v.InferOutput<typeof AccountSettings>;
export type AccountSetting = keyof AccountSettings;

/** Settings of one account that can change while the store is open. */
export interface AccountSettingsHolder {
  /** Settings that the store has. */
  readonly names: readonly AccountSetting[];
  readonly current: () => AccountSettings;
  readonly change: (changes: AccountSettings) => void;
}

/** Creates the settings of an account, from the saved settings if there are any. */
export function createAccountSettings(names: readonly AccountSetting[], saved: unknown): AccountSettingsHolder {
  let settings = saved === undefined ? {} : v.parse(AccountSettings, saved);
  return {
    names,
    current: () => settings,
    change: (changes) => {
      settings = { ...settings, ...changes };
    },
  };
}
