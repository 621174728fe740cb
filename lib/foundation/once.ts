/**
 * Returns a function that calls `create` at its first call and returns the same value from then on. The annotation lets
 * the build omit a function that is not used.
 */
/* @__NO_SIDE_EFFECTS__ */
export function once<T>(create: () => T): () => T {
  let created: { readonly value: T } | undefined;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}
