/** State, keys and clock of a store, from which its API builds responses. */
export interface StoreResponseContext<State, Keys> {
  readonly state: State;
  readonly keys: Keys;
  readonly now: () => number;
}
