import type { AccountSettings } from './account-settings.ts';

/** State, keys and clock of a store, from which its API builds responses. */
export interface StoreResponseContext<State, Keys> {
  readonly state: State;
  readonly keys: Keys;
  readonly now: () => number;
  /** Settings of the developer's account. */
  readonly settings: () => AccountSettings;
}
