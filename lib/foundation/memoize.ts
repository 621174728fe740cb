/**
 * Returns a function that calls `load` once for each list of arguments, and returns the same result from then on. The
 * arguments are texts, plain objects and left-out ones.
 */
export function memoize<Args extends readonly (string | object | undefined)[], T>(
  load: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  const results = new Map<string, Promise<T>>();
  return async (...args) => {
    const key = JSON.stringify(args);
    const result = results.get(key) ?? load(...args);
    results.set(key, result);
    return await result;
  };
}
