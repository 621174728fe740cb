import type { Deps } from '../composition/deps.ts';

/** Returns dependencies with some members replaced. `base` does not change, and its other members stay lazy. */
export const overrideDeps = (base: Deps, overrides: Partial<Deps>): Deps =>
  Object.create(base, Object.getOwnPropertyDescriptors(overrides));
