/**
 * Creates an object whose members are created when they are first read, once each. A member can be replaced by assignment.
 */
export function createLazyMembers<T extends object>(factories: { readonly [K in keyof T]: () => T[K] }): T {
  const members = {} as T;
  for (const name of Object.keys(factories) as (keyof T)[]) {
    const set = (value: T[keyof T]) => {
      Object.defineProperty(members, name, { value, writable: true, enumerable: true, configurable: true });
    };
    const get = () => {
      const value = factories[name]();
      set(value);
      return value;
    };
    Object.defineProperty(members, name, { get, set, enumerable: true, configurable: true });
  }
  return members;
}
